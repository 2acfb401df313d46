# Headers of ebb::torch that are written from lists: include/libtorch/forwarders.list and refusals.list.

# ebb_write_torch_headers(FOLDER VARIABLE): writes them below FOLDER, removes headers there that the lists no longer name, and
# sets the variable to the names of the forwarding headers.
function(ebb_write_torch_headers folder variable)
  set(lists ${PROJECT_SOURCE_DIR}/include/libtorch)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${lists}/forwarders.list ${lists}/refusals.list)
  file(GLOB_RECURSE written RELATIVE ${folder} ${folder}/*)

  file(STRINGS ${lists}/forwarders.list lines REGEX "^[^#]")
  foreach(line IN LISTS lines)
    string(REGEX MATCH "^([^:]+): (.+)$" whole "${line}")
    set(header ${CMAKE_MATCH_1})
    string(REPLACE " " ">\n#include <" includes "${CMAKE_MATCH_2}")
    file(CONFIGURE OUTPUT ${folder}/${header} @ONLY CONTENT
      "// <${header}> of libtorch.\n#pragma once\n\n#include <${includes}>\n#include <torch/csrc/namespaces.h>\n")
    list(APPEND headers ${header})
  endforeach()

  file(STRINGS ${lists}/refusals.list lines REGEX "^[^#]")
  foreach(line IN LISTS lines)
    if(NOT line MATCHES "^  (.+)$")
      set(sentence "${line}")
      continue()
    endif()
    set(header ${CMAKE_MATCH_1})
    file(CONFIGURE OUTPUT ${folder}/${header} @ONLY CONTENT
      "// <${header}> of libtorch, a part that ebb does not have.\n#pragma once\n\n#error \"${sentence}\"\n")
    list(APPEND refusals ${header})
  endforeach()

  list(REMOVE_ITEM written ${headers} ${refusals})
  foreach(header IN LISTS written)
    file(REMOVE ${folder}/${header})
  endforeach()
  set(${variable} ${headers} PARENT_SCOPE)
endfunction()
