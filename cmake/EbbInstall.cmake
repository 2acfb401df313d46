# cmake --install: a relocatable package in the components runtime, development and cuda (the plugin).

include(CMakePackageConfigHelpers)
set(EBB_CONFIG_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/ebb)

install(TARGETS ebb EXPORT ebbTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT development
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT runtime)
# A Release install omits symbols that only a debugger reads; symbols that programs link stay.
if(BUILD_SHARED_LIBS AND CMAKE_STRIP)
  install(CODE "
    if(CMAKE_INSTALL_CONFIG_NAME STREQUAL \"Release\" AND NOT CMAKE_INSTALL_DO_STRIP)
      execute_process(COMMAND \"${CMAKE_STRIP}\" --strip-unneeded
        \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/$<TARGET_FILE_NAME:ebb>\" COMMAND_ERROR_IS_FATAL ANY)
    endif()" COMPONENT runtime)
endif()
install(EXPORT ebbTargets NAMESPACE ebb:: DESTINATION ${EBB_CONFIG_DIR} COMPONENT development)
if(TARGET ebb_cuda)  # ebb::cuda gives the location of the plugin; programs do not link it
  install(TARGETS ebb_cuda EXPORT ebbCudaTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT cuda)
  install(EXPORT ebbCudaTargets NAMESPACE ebb:: DESTINATION ${EBB_CONFIG_DIR} COMPONENT cuda)
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ebb DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  COMPONENT development FILES_MATCHING PATTERN "*.h"
  REGEX "/ebb/(distributed|models|vision|watch)(\\.h)?$" EXCLUDE)

if(BUILD_SHARED_LIBS)  # the dependencies of libebb.so are private to it
  set(EBB_STATIC_DEPENDENCIES "")
  set(EBB_PC_CFLAGS "")
  set(EBB_PC_RUN_PATH " -Wl,-rpath,\${libdir}")  # programs start wherever the package is installed
else()
  set(EBB_PC_CFLAGS " -DEBB_STATIC")
  set(EBB_PC_EXTRA_LIBS " ${EBB_PC_LIBS}")
endif()
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/ebbConfig.cmake.in
  ${PROJECT_BINARY_DIR}/ebbConfig.cmake INSTALL_DESTINATION ${EBB_CONFIG_DIR})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/ebbConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/ebbConfig.cmake ${PROJECT_BINARY_DIR}/ebbConfigVersion.cmake
  DESTINATION ${EBB_CONFIG_DIR} COMPONENT development)

# The prefix is computed from the location of ebb.pc, so that the tree can be moved.
file(RELATIVE_PATH EBB_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(${PROJECT_SOURCE_DIR}/cmake/ebb.pc.in ${PROJECT_BINARY_DIR}/ebb.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/ebb.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
