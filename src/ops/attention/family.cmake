ebb_family(FAST ALL SMALL cpu_mask WIDE ALL)
