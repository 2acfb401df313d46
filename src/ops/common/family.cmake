# Compiler flags of the kernels that all families share (cmake/EbbFamily.cmake).
ebb_family(LOOPS cpu_scan WIDE ALL)
