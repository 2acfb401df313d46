# Flags of the kernels that families share (cmake/EbbFamily.cmake).
ebb_family(LOOPS cpu_scan WIDE ALL)
