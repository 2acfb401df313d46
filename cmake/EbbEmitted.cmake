# ebb::emitted: the target that sources from Compiled::emit() link (docs/compile.md): ebb, and the headers of its
# kernels.

add_library(ebb_emitted INTERFACE)
add_library(ebb::emitted ALIAS ebb_emitted)
set_target_properties(ebb_emitted PROPERTIES EXPORT_NAME emitted)
target_link_libraries(ebb_emitted INTERFACE ebb)
target_include_directories(ebb_emitted INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/ebb/internals>)

# Adds a header of src to a list, with all headers of src that it includes.
function(ebb_add_headers variable header)
  if(header IN_LIST ${variable})
    return()
  endif()
  set(_list ${${variable}} ${header})
  file(STRINGS ${PROJECT_SOURCE_DIR}/src/${header} _lines REGEX "^#include \"")
  foreach(_line IN LISTS _lines)
    string(REGEX REPLACE "^#include \"(.*)\".*" "\\1" _path "${_line}")
    ebb_add_headers(_list ${_path})
  endforeach()
  set(${variable} ${_list} PARENT_SCOPE)
endfunction()

if(EBB_INSTALL)
  install(TARGETS ebb_emitted EXPORT ebbEmittedTargets COMPONENT development)
  install(EXPORT ebbEmittedTargets NAMESPACE ebb:: DESTINATION ${EBB_CONFIG_DIR} COMPONENT development)
  set(_headers "")
  ebb_add_headers(_headers compile/emitted.h)
  foreach(_header IN LISTS _headers)
    cmake_path(GET _header PARENT_PATH _folder)
    install(FILES ${PROJECT_SOURCE_DIR}/src/${_header} COMPONENT development
      DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ebb/internals/${_folder})
  endforeach()
endif()
