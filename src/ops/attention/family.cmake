# Compiler flags of the attention kernels (cmake/EbbFamily.cmake).
ebb_family(FAST ALL SMALL cpu_mask WIDE ALL)
