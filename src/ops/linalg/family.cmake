# Flags of linalg (cmake/EbbFamily.cmake).
# Elimination ends in an exact zero for singular matrices of small integers only where products are rounded.
ebb_family(FAST ALL LOOPS cpu_ldl cpu_lu cpu_qr cpu_svd cpu_triangular SMALL cpu_eigh
  WIDE ALL NARROW cpu_eigh cpu_ldl cpu_lu cpu_qr cpu_svd cpu_triangular decomposition_kernels EXACT cpu_ldl cpu_lu)
