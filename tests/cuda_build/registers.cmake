# Fails when a kernel that moves memory keeps much in local memory: registers that did not fit, or an array that is
# indexed as it runs. A few words outside the loops do no harm; kernels whose arithmetic needs more are named below.
cmake_minimum_required(VERSION 3.25)
if(NOT CUOBJDUMP)
  message("skipped: cuobjdump, of the CUDA toolkit, was not found")
  return()
endif()
execute_process(COMMAND ${CUOBJDUMP} --dump-resource-usage ${PLUGIN}
  OUTPUT_VARIABLE usage ERROR_VARIABLE usage_errors COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "Function [^\n]*\n[^\n]*REG:[^\n]*" kernels "${usage}${usage_errors}")
list(LENGTH kernels count)
if(count LESS 500)
  message(FATAL_ERROR "only ${count} kernels were found in ${PLUGIN}")
endif()

# Where the kernels that must not have a stack are made.
set(streaming "map_kernel|reduce_(rows|columns|pieces)_kernel|softmax_|cross_entropy_|norm_(kept|rows|backward)|affine_|scan_|transpose_|join_")
# sin, cos and tan reduce large arguments with an array; digamma uses them.
set(with_reason "3SinE|3CosE|3TanE|4SincE|7DigammaE")

set(allowed 40)  # bytes of a thread
set(spilling "")
foreach(kernel IN LISTS kernels)
  string(REGEX MATCH "Function ([^ :\n]*)" _ "${kernel}")
  set(name "${CMAKE_MATCH_1}")
  string(REGEX MATCH "STACK:([0-9]+).*LOCAL:([0-9]+)" _ "${kernel}")
  math(EXPR bytes "${CMAKE_MATCH_1} + ${CMAKE_MATCH_2}")
  if(bytes GREATER allowed AND name MATCHES "${streaming}" AND NOT name MATCHES "${with_reason}")
    string(APPEND spilling "  ${bytes} bytes: ${name}\n")
  endif()
endforeach()
if(spilling)
  message(FATAL_ERROR "kernels that keep more than ${allowed} bytes of a thread in local memory:\n${spilling}")
endif()
message("${count} kernels, no streaming one keeps more than ${allowed} bytes of a thread in local memory")
