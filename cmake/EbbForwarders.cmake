# Headers that are written from lists, as those of libtorch's names are (include/libtorch/forwarders.list, refusals.list). A line
# of a list of forwarders is "<header>: <header> ...": the first includes the others.

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
