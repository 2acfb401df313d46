# Libraries and programs outside libebb, each in its own component of the package: parts that most programs do not need,
# or that link libraries that libebb must not link.

# ebb_add_component(<name> [COMPONENTS <name>...] [DEPENDS <package>...] [LIBS <flag>...]): defines ebb::<name> from the
# *.cpp below src/<name>; its headers are include/ebb/<name>.h and include/ebb/<name>/. It links the given components.
# Folders below src/<name> that have a CMakeLists.txt are targets of their own, such as plugins.
# It needs the given CMake packages, whose targets src/<name>/CMakeLists.txt links; LIBS are the equivalent linker flags
# for builds without CMake.
function(ebb_add_component name)
  cmake_parse_arguments(arg "" "" "COMPONENTS;DEPENDS;LIBS" ${ARGN})
  foreach(_package IN LISTS arg_DEPENDS)
    find_package(${_package} QUIET GLOBAL)
    string(TOLOWER ${_package} _lower)
    ebb_require(${_package}_FOUND ${_package} lib${_lower}-dev)
  endforeach()
  file(GLOB_RECURSE _sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${name}/*.cpp)
  file(GLOB _targets ${PROJECT_SOURCE_DIR}/src/${name}/*/CMakeLists.txt)
  foreach(_target IN LISTS _targets)
    cmake_path(GET _target PARENT_PATH _folder)
    list(FILTER _sources EXCLUDE REGEX "^${_folder}/")
  endforeach()
  add_library(ebb_${name} ${_sources})
  add_library(ebb::${name} ALIAS ebb_${name})
  ebb_own_target(ebb_${name})
  ebb_guard(ebb_${name})
  ebb_seal(ebb_${name})
  set_target_properties(ebb_${name} PROPERTIES
    EXPORT_NAME ${name} VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
    POSITION_INDEPENDENT_CODE ON INSTALL_RPATH $ORIGIN)
  if(NOT EBB_INSTALL)  # within another project: built only if it is used
    set_target_properties(ebb_${name} PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
  target_include_directories(ebb_${name} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  list(TRANSFORM arg_COMPONENTS PREPEND ebb:: OUTPUT_VARIABLE _components)
  target_link_libraries(ebb_${name} PUBLIC ebb ${_components})
  ebb_precompile(ebb_${name} <ebb/ebb.h>)
  if(EBB_INSTALL)
    install(TARGETS ebb_${name} EXPORT ebb_${name}Targets COMPONENT ${name}
      LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
    if(arg_DEPENDS AND NOT BUILD_SHARED_LIBS)  # users of an archive link these; for ebbConfig.cmake
      list(TRANSFORM arg_DEPENDS REPLACE "(.+)" "find_dependency(\\1)\n" OUTPUT_VARIABLE _lines)
      list(JOIN _lines "" _text)
      file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/ebb_${name}Dependencies.cmake "# What ebb::${name} links.\n${_text}")
      install(FILES ${CMAKE_CURRENT_BINARY_DIR}/ebb_${name}Dependencies.cmake DESTINATION ${EBB_CONFIG_DIR} COMPONENT ${name})
    endif()
    install(EXPORT ebb_${name}Targets NAMESPACE ebb:: DESTINATION ${EBB_CONFIG_DIR} COMPONENT ${name})
    install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ebb/${name} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ebb
      COMPONENT ${name} FILES_MATCHING PATTERN "*.h")
    list(TRANSFORM arg_COMPONENTS PREPEND ", ebb-" OUTPUT_VARIABLE _pc_requires)
    list(JOIN _pc_requires "" _pc_requires)
    set(_pc_libs "")
    if(arg_LIBS AND NOT BUILD_SHARED_LIBS)
      list(JOIN arg_LIBS " " _pc_libs)
      string(PREPEND _pc_libs " ")
    endif()
    configure_file(${PROJECT_SOURCE_DIR}/cmake/ebb-component.pc.in ${CMAKE_CURRENT_BINARY_DIR}/ebb-${name}.pc @ONLY)
    install(FILES ${CMAKE_CURRENT_BINARY_DIR}/ebb-${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT ${name})
    install(FILES ${PROJECT_SOURCE_DIR}/include/ebb/${name}.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ebb COMPONENT ${name})
  endif()
endfunction()

# The folder of an installed package that contains the verb programs.
set(EBB_VERB_DIR ${CMAKE_INSTALL_LIBEXECDIR}/ebb)

# ebb_add_program(<target> <name> <folder> <component>): a program of that name, built into the common folder of
# programs and installed in the folder.
function(ebb_add_program target name folder component)
  ebb_own_target(${target})
  ebb_guard(${target})
  ebb_seal(${target})
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  if(EBB_INSTALL)
    install(TARGETS ${target} RUNTIME DESTINATION ${folder} COMPONENT ${component})
  endif()
endfunction()

# ebb_add_verb(<verb> <summary> COMPONENT <component> SOURCES <file>...): the program ebb-<verb>, target ebb_<verb>,
# which `ebb <verb>` starts. The summary is a text file next to it with one line, which `ebb help` prints.
function(ebb_add_verb verb summary)
  cmake_parse_arguments(arg "" "COMPONENT" "SOURCES" ${ARGN})
  add_executable(ebb_${verb} ${arg_SOURCES})
  ebb_add_program(ebb_${verb} ebb-${verb} ${EBB_VERB_DIR} ${arg_COMPONENT})
  target_link_libraries(ebb_${verb} PRIVATE ebb)
  file(RELATIVE_PATH _libraries /${EBB_VERB_DIR} /${CMAKE_INSTALL_LIBDIR})
  set_target_properties(ebb_${verb} PROPERTIES INSTALL_RPATH $ORIGIN/${_libraries})
  set(_summary ${PROJECT_BINARY_DIR}/bin/ebb-${verb}.summary)
  file(CONFIGURE OUTPUT ${_summary} CONTENT "${summary}\n" @ONLY)
  if(EBB_INSTALL)
    install(FILES ${_summary} DESTINATION ${EBB_VERB_DIR} COMPONENT ${arg_COMPONENT})
  endif()
endfunction()
