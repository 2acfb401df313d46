# Reads the plugin's machine code with the CUDA tools; for the scripts in this folder, which get CUOBJDUMP and PLUGIN.

# Sets `kernels` to a list of "name registers stack shared local" for one architecture of each kernel, and
# `kernel_count`; or reports that the test is skipped and ends the calling script.
macro(read_kernels)
  if(NOT CUOBJDUMP)
    message("skipped: cuobjdump, of the CUDA toolkit, was not found")
    return()
  endif()
  execute_process(COMMAND ${CUOBJDUMP} --dump-resource-usage ${PLUGIN}
    OUTPUT_VARIABLE _usage ERROR_VARIABLE _usage_errors COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "Function [^\n]*\n[^\n]*REG:[^\n]*" _lines "${_usage}${_usage_errors}")
  set(kernels "")
  foreach(_line IN LISTS _lines)
    string(REGEX MATCH "Function ([^ :\n]*)" _ "${_line}")
    set(_name "${CMAKE_MATCH_1}")
    string(REGEX MATCH "REG:([0-9]+).*STACK:([0-9]+).*SHARED:([0-9]+).*LOCAL:([0-9]+)" _ "${_line}")
    list(APPEND kernels "${_name} ${CMAKE_MATCH_1} ${CMAKE_MATCH_2} ${CMAKE_MATCH_3} ${CMAKE_MATCH_4}")
  endforeach()
  list(LENGTH kernels kernel_count)
  if(kernel_count EQUAL 0)
    message(FATAL_ERROR "no kernel was found in ${PLUGIN}")
  endif()
endmacro()

# Sets `code` to a list with the machine code of each of the `kernels` whose name matches; each element begins with the
# name.
function(read_code code expression)
  set(names "")
  foreach(kernel IN LISTS kernels)
    string(REGEX REPLACE " .*" "" name "${kernel}")
    if(name MATCHES "${expression}")
      list(APPEND names ${name})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES names)
  list(LENGTH names count)
  if(count EQUAL 0)
    message(FATAL_ERROR "no kernel that matches ${expression} was found in ${PLUGIN}")
  endif()
  list(JOIN names "," names)
  execute_process(COMMAND ${CUOBJDUMP} -sass -fun ${names} ${PLUGIN} OUTPUT_VARIABLE text
    ERROR_QUIET COMMAND_ERROR_IS_FATAL ANY)  # cuobjdump warns about each part of the plugin without machine code
  string(REPLACE ";" "" text "${text}")
  string(REPLACE "[" "(" text "${text}")  # CMake does not see the end of a list element after an open bracket
  string(REPLACE "]" ")" text "${text}")
  string(REGEX REPLACE "Function : " ";" text "${text}")
  list(POP_FRONT text)
  list(LENGTH text found)
  if(NOT found EQUAL count)
    message(FATAL_ERROR "${found} of ${count} kernels were found in ${PLUGIN}")
  endif()
  set(${code} "${text}" PARENT_SCOPE)
endfunction()
