# Flags of index (cmake/EbbFamily.cmake).
ebb_family(LOOPS ALL WIDE ALL NARROW cpu_sort cpu_unique sort_kernels)
