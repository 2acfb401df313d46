# Libraries beside libebb, each a component of the package: what most programs do without, or what links more than libebb may.

# ebb_add_component(<name>): ebb::<name>, from src/<name>/*.cpp; its headers are include/ebb/<name>.h and include/ebb/<name>/.
# What else it links stands in src/<name>/CMakeLists.txt.
function(ebb_add_component name)
  file(GLOB _sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${name}/*.cpp)
  add_library(ebb_${name} ${_sources})
  add_library(ebb::${name} ALIAS ebb_${name})
  ebb_own_target(ebb_${name})
  set_target_properties(ebb_${name} PROPERTIES
    EXPORT_NAME ${name} VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
    POSITION_INDEPENDENT_CODE ON INSTALL_RPATH $ORIGIN)
  target_include_directories(ebb_${name} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(ebb_${name} PUBLIC ebb)
  if(EBB_INSTALL)
    install(TARGETS ebb_${name} EXPORT ebb_${name}Targets COMPONENT ${name}
      LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
    install(EXPORT ebb_${name}Targets NAMESPACE ebb:: DESTINATION ${EBB_CONFIG_DIR} COMPONENT ${name})
    install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ebb/${name} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ebb
      COMPONENT ${name} FILES_MATCHING PATTERN "*.h")
    install(FILES ${PROJECT_SOURCE_DIR}/include/ebb/${name}.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ebb COMPONENT ${name})
  endif()
endfunction()
