# The numbers are the same at all levels.
ebb_family(EXACT ALL)
