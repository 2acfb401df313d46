ebb_family(FAST ALL)
