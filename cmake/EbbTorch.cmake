# ebb::torch: headers under libtorch's names, so that programs written for libtorch build unchanged (docs/porting.md).

add_library(ebb_torch INTERFACE)
add_library(ebb::torch ALIAS ebb_torch)
set_target_properties(ebb_torch PROPERTIES EXPORT_NAME torch)
target_link_libraries(ebb_torch INTERFACE ebb)
target_include_directories(ebb_torch INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include/libtorch> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/ebb/libtorch>)

if(EBB_INSTALL)
  set(EBB_TORCH_CONFIG_DIR ${CMAKE_INSTALL_DATADIR}/ebb/libtorch)
  install(TARGETS ebb_torch EXPORT ebbTorchTargets COMPONENT torch)
  install(EXPORT ebbTorchTargets NAMESPACE ebb:: DESTINATION ${EBB_CONFIG_DIR} COMPONENT torch)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/libtorch/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ebb/libtorch
    COMPONENT torch FILES_MATCHING PATTERN "*.h")
  # find_package(Torch), for -DCMAKE_PREFIX_PATH=<prefix>/share/ebb/libtorch.
  configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/TorchConfig.cmake.in
    ${PROJECT_BINARY_DIR}/TorchConfig.cmake INSTALL_DESTINATION ${EBB_TORCH_CONFIG_DIR} PATH_VARS EBB_CONFIG_DIR)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/TorchConfigVersion.cmake.in
    ${PROJECT_BINARY_DIR}/TorchConfigVersion.cmake COPYONLY)
  install(FILES ${PROJECT_BINARY_DIR}/TorchConfig.cmake ${PROJECT_BINARY_DIR}/TorchConfigVersion.cmake
    DESTINATION ${EBB_TORCH_CONFIG_DIR} COMPONENT torch)
endif()
