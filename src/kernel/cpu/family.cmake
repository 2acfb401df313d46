# Compiler flags of the shared CPU kernels (cmake/EbbFamily.cmake).
ebb_family(PRODUCTS ALL WIDE ALL)
