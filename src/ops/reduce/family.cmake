# Flags of reduce (cmake/EbbFamily.cmake).
ebb_family(LOOPS cpu cpu_index FAST cpu_scan cpu_softmax
  WIDE cpu_softmax softmax_kernels)
