# Flags of attention (cmake/EbbFamily.cmake).
ebb_family(FAST ALL SMALL cpu_mask WIDE ALL)
