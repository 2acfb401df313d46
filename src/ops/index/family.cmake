ebb_family(LOOPS ALL WIDE ALL)
