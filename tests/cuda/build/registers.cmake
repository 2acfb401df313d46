# Fails if a memory-bound kernel uses much local memory: spilled registers, or an array with run-time indices. A few
# words outside the loops do no harm; kernels whose arithmetic needs more are listed below.
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/cubin.cmake)
read_kernels()
if(kernel_count LESS 500)
  message(FATAL_ERROR "only ${kernel_count} kernels were found in ${PLUGIN}")
endif()

# The kernels that must not have a stack.
set(streaming "map_kernel|reduce_(rows|columns|pieces)_kernel|softmax_|cross_entropy_|norm_(kept|rows|backward)|affine_|scan_|transpose_|join_|select_|compare_lines|MaxPool|MeanPool")
# sin, cos and tan reduce large arguments with an array; digamma, Bessel functions and Chebyshev polynomials use them.
set(with_reason "3SinE|3CosE|3TanE|4SincE|7DigammaE|15SpecialFunctionE|13SpecialBinaryE")

set(allowed 40)  # bytes per thread
set(spilling "")
foreach(kernel IN LISTS kernels)
  string(REPLACE " " ";" fields "${kernel}")
  list(GET fields 0 2 4 fields)
  list(POP_FRONT fields name stack local)
  math(EXPR bytes "${stack} + ${local}")
  if(bytes GREATER allowed AND name MATCHES "${streaming}" AND NOT name MATCHES "${with_reason}")
    string(APPEND spilling "  ${bytes} bytes: ${name}\n")
  endif()
endforeach()
if(spilling)
  message(FATAL_ERROR "kernels that keep more than ${allowed} bytes of a thread in local memory:\n${spilling}")
endif()
message("${kernel_count} kernels, no streaming one keeps more than ${allowed} bytes of a thread in local memory")
