ebb_family(LOOPS cpu_scan WIDE ALL)
