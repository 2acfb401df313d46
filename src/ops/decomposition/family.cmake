# Elimination ends in an exact zero for singular matrices of small integers only where products are rounded.
ebb_family(LOOPS ALL SMALL cpu_eigh EXACT cpu_lu cpu_ldl)
