# ebb::torch: headers under libtorch's names, so that programs written for libtorch build unchanged (docs/porting.md).

set(EBB_TORCH_HEADERS ${PROJECT_BINARY_DIR}/include/libtorch)
set(_lists ${PROJECT_SOURCE_DIR}/include/libtorch)
ebb_write_forwarders(${_lists}/forwarders.list ${EBB_TORCH_HEADERS} "<@header@> of libtorch." EBB_TORCH_FORWARDERS
  torch/csrc/namespaces.h)
ebb_write_refusals(${_lists}/refusals.list ${EBB_TORCH_HEADERS} _refusals)
ebb_remove_unlisted(${EBB_TORCH_HEADERS} ${EBB_TORCH_FORWARDERS} ${_refusals})

add_library(ebb_torch INTERFACE)
add_library(ebb::torch ALIAS ebb_torch)
set_target_properties(ebb_torch PROPERTIES EXPORT_NAME torch)
target_link_libraries(ebb_torch INTERFACE ebb)
target_include_directories(ebb_torch INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include/libtorch> $<BUILD_INTERFACE:${EBB_TORCH_HEADERS}>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/ebb/libtorch>)

if(EBB_INSTALL)
  set(EBB_TORCH_CONFIG_DIR ${CMAKE_INSTALL_DATADIR}/ebb/libtorch)
  install(TARGETS ebb_torch EXPORT ebbTorchTargets COMPONENT torch)
  install(EXPORT ebbTorchTargets NAMESPACE ebb:: DESTINATION ${EBB_CONFIG_DIR} COMPONENT torch)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/libtorch/ ${EBB_TORCH_HEADERS}/
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ebb/libtorch COMPONENT torch FILES_MATCHING REGEX "[.](h|hpp|cuh)$")
  # find_package(Torch), for -DCMAKE_PREFIX_PATH=<prefix>/share/ebb/libtorch.
  configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/TorchConfig.cmake.in
    ${PROJECT_BINARY_DIR}/TorchConfig.cmake INSTALL_DESTINATION ${EBB_TORCH_CONFIG_DIR} PATH_VARS EBB_CONFIG_DIR)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/TorchConfigVersion.cmake.in
    ${PROJECT_BINARY_DIR}/TorchConfigVersion.cmake COPYONLY)
  install(FILES ${PROJECT_BINARY_DIR}/TorchConfig.cmake ${PROJECT_BINARY_DIR}/TorchConfigVersion.cmake
    DESTINATION ${EBB_TORCH_CONFIG_DIR} COMPONENT torch)
  # The same folder has the layout of libtorch, for CMake modules and makefiles that take TORCH_ROOT and look for
  # include/torch/torch.h, lib/libtorch.so and lib/libc10.so. These are relative links, so the tree can be moved.
  if(BUILD_SHARED_LIBS)
    file(RELATIVE_PATH _to_include /${EBB_TORCH_CONFIG_DIR}/include /${CMAKE_INSTALL_INCLUDEDIR})
    file(RELATIVE_PATH _to_lib /${EBB_TORCH_CONFIG_DIR}/lib /${CMAKE_INSTALL_LIBDIR})
    set(_links "include/ebb>${_to_include}/ebb;include/torch>${_to_include}/ebb/libtorch/torch"
      "include/ATen>${_to_include}/ebb/libtorch/ATen;include/c10>${_to_include}/ebb/libtorch/c10")
    foreach(_name libtorch.so libtorch_cpu.so libc10.so "$<TARGET_SONAME_FILE_NAME:ebb>")
      list(APPEND _links "lib/${_name}>${_to_lib}/$<TARGET_SONAME_FILE_NAME:ebb>")
    endforeach()
    install(CODE "
      set(_root \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${EBB_TORCH_CONFIG_DIR}\")
      foreach(_link ${_links})
        string(REGEX MATCH \"^(.*)>(.*)$\" _whole \"\${_link}\")
        set(_from \"\${_root}/\${CMAKE_MATCH_1}\")
        set(_to \"\${CMAKE_MATCH_2}\")
        cmake_path(GET _from PARENT_PATH _folder)
        file(MAKE_DIRECTORY \"\${_folder}\")
        file(CREATE_LINK \"\${_to}\" \"\${_from}\" SYMBOLIC)
      endforeach()" COMPONENT torch)
  endif()
endif()
