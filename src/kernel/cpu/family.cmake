# Flags of the shared kernels of the CPU (cmake/EbbFamily.cmake).
ebb_family(PRODUCTS ALL WIDE ALL)
