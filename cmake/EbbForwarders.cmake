# Headers that are written from lists of lines "<header>: <header> ...": each includes others. They are libtorch's names for
# headers of ebb (include/libtorch/forwarders.list, refusals.list), and names that headers of ebb had (include/ebb/forwarders.list).

# ebb_write_forwarders(LIST FOLDER COMMENT VARIABLE [HEADER]): writes the headers that the list names below FOLDER, and appends
# their names to the variable. COMMENT is their first line, in which @header@ is the name; each includes HEADER as well.
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

# ebb_write_refusals(LIST FOLDER VARIABLE): likewise for headers of parts that ebb does not have; each stops the compiler with
# the sentence above it in the list.
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

# ebb_remove_unlisted(FOLDER HEADER...): removes what an earlier list had below the folder.
function(ebb_remove_unlisted folder)
  file(GLOB_RECURSE written RELATIVE ${folder} ${folder}/*)
  list(REMOVE_ITEM written ${ARGN})
  foreach(header IN LISTS written)
    file(REMOVE ${folder}/${header})
  endforeach()
endfunction()

# The names of the version before, for programs that include them; ebb's own sources do not.
set(_folder ${PROJECT_BINARY_DIR}/include/forwarders)
ebb_write_forwarders(${PROJECT_SOURCE_DIR}/include/ebb/forwarders.list ${_folder}
  "<@header@> of the version before. Programs include the following in its place." EBB_FORWARDERS)
ebb_remove_unlisted(${_folder} ${EBB_FORWARDERS})
target_include_directories(ebb INTERFACE $<BUILD_INTERFACE:${_folder}>)
if(EBB_INSTALL)
  install(DIRECTORY ${_folder}/ebb DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
endif()
