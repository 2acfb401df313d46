# Compiler flags of the linalg kernels (cmake/EbbFamily.cmake).
# Elimination of a singular matrix of small integers gives an exact zero only if products are rounded before
# the subtraction.
ebb_family(FAST ALL LOOPS cpu_lu cpu_qr cpu_svd SMALL cpu_eigh
  WIDE ALL NARROW cpu_eigh cpu_lu cpu_qr cpu_svd decomposition_kernels EXACT cpu_lu)
