# Flags of reduce (cmake/EbbFamily.cmake).
ebb_family(LOOPS cpu_index cpu_norm cpu_sum FAST cpu_scan cpu_softmax
  WIDE cpu_softmax softmax_kernels)
