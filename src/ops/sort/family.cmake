ebb_family(LOOPS ALL)
