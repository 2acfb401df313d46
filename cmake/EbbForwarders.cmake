# Headers that are generated from lists of lines "<header>: <header> ...": each includes the headers after the colon.
# They give libtorch's names to headers of ebb (include/libtorch/forwarders.list, refusals.list), and former names to
# headers of ebb (include/ebb/forwarders.list).

# ebb_write_forwarders(LIST FOLDER COMMENT VARIABLE [HEADER]): writes the headers of the list below FOLDER, and appends
# their names to the variable. COMMENT is their first line, in which @header@ is replaced by the name; each includes
# HEADER as well.
function(ebb_write_forwarders list folder comment variable)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${list})
  file(STRINGS ${list} lines REGEX "^[^#]")
  foreach(line IN LISTS lines)
    string(REGEX MATCH "^([^:]+): (.+)$" whole "${line}")
    set(header ${CMAKE_MATCH_1})
    string(REPLACE " " ";" includes "${CMAKE_MATCH_2}")
    list(APPEND includes ${ARGN})
    list(JOIN includes ">\n#include <" includes)
    string(CONFIGURE "${comment}" text @ONLY)
    file(CONFIGURE OUTPUT ${folder}/${header} @ONLY CONTENT "// ${text}\n#pragma once\n\n#include <${includes}>\n")
    list(APPEND ${variable} ${header})
  endforeach()
  set(${variable} ${${variable}} PARENT_SCOPE)
endfunction()

# ebb_write_refusals(LIST FOLDER VARIABLE): the same for headers of unsupported parts; each stops the compiler with the
# sentence above it in the list.
function(ebb_write_refusals list folder variable)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${list})
  file(STRINGS ${list} lines REGEX "^[^#]")
  foreach(line IN LISTS lines)
    if(NOT line MATCHES "^  (.+)$")
      set(sentence "${line}")
      continue()
    endif()
    set(header ${CMAKE_MATCH_1})
    file(CONFIGURE OUTPUT ${folder}/${header} @ONLY CONTENT
      "// <${header}> of libtorch, a part that ebb does not have.\n#pragma once\n\n#error \"${sentence}\"\n")
    list(APPEND ${variable} ${header})
  endforeach()
  set(${variable} ${${variable}} PARENT_SCOPE)
endfunction()

# ebb_remove_unlisted(FOLDER HEADER...): removes files below the folder that an earlier list generated.
function(ebb_remove_unlisted folder)
  file(GLOB_RECURSE written RELATIVE ${folder} ${folder}/*)
  list(REMOVE_ITEM written ${ARGN})
  foreach(header IN LISTS written)
    file(REMOVE ${folder}/${header})
  endforeach()
endfunction()

# The header names of the previous version, for programs that include them; ebb's own sources do not.
set(_folder ${PROJECT_BINARY_DIR}/include/forwarders)
ebb_write_forwarders(${PROJECT_SOURCE_DIR}/include/ebb/forwarders.list ${_folder}
  "<@header@> of the version before. Programs include the following in its place." EBB_FORWARDERS)
ebb_remove_unlisted(${_folder} ${EBB_FORWARDERS})
target_include_directories(ebb INTERFACE $<BUILD_INTERFACE:${_folder}>)
if(EBB_INSTALL)
  install(DIRECTORY ${_folder}/ebb DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
endif()
