# Compiler flags of the creation kernels (cmake/EbbFamily.cmake).
# The results must be the same at all instruction set levels.
ebb_family(EXACT ALL)
