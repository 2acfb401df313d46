# Flags of pool (cmake/EbbFamily.cmake).
ebb_family(LOOPS ALL SMALL cpu_grid cpu_resize)
