ebb_family(FAST ALL WIDE ALL)
