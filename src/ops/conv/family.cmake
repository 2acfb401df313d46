# Compiler flags of the convolution kernels (cmake/EbbFamily.cmake).
ebb_family(PRODUCTS ALL WIDE ALL)
