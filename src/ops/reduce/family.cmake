ebb_family(LOOPS cpu_extreme cpu_index cpu_norm cpu_sum)
