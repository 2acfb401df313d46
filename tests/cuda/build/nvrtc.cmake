# test_nvrtc compiles the sources of fused kernels with NVRTC for several architectures, without a GPU; in builds with a
# real or emulated CUDA plugin. Without libnvrtc the cases count as skipped.
if(EBB_CUDA_BACKEND STREQUAL "OFF")
  return()
endif()
include(${PROJECT_SOURCE_DIR}/cmake/EbbEmbed.cmake)
ebb_embed_headers(_embedded)
find_library(EBB_NVRTC_LIBRARY nvrtc
  HINTS ${CUDAToolkit_LIBRARY_DIR} ENV CUDA_PATH ENV CUDA_HOME PATHS /usr/local/cuda PATH_SUFFIXES lib64 lib)
mark_as_advanced(EBB_NVRTC_LIBRARY)
set(_major 0)
if(EBB_NVRTC_LIBRARY)
  get_filename_component(_dir ${EBB_NVRTC_LIBRARY} DIRECTORY)
  file(GLOB _versions ${_dir}/libnvrtc.so.[0-9][0-9])
  list(SORT _versions ORDER DESCENDING)
  string(REGEX MATCH "[0-9]+$" _major "${_versions}")
endif()
if(NOT _major)
  set(_major 0)
endif()

# All formulas with kernels, as one list.
include(${PROJECT_SOURCE_DIR}/src/ops/elementwise/lists.cmake)
set(_lists "")
while(EBB_LISTS)
  list(POP_FRONT EBB_LISTS _name _list)
  list(APPEND _lists ebb::ops::${_list})
endwhile()
list(JOIN _lists "," _lists)

file(GLOB _sources CONFIGURE_DEPENDS *.cpp)
add_executable(test_nvrtc ${_sources} ${_embedded}
  ${PROJECT_SOURCE_DIR}/src/cuda/nvidia/nvrtc.cpp ${PROJECT_SOURCE_DIR}/src/cuda/cache_files.cpp)
ebb_test_target(test_nvrtc)
target_compile_definitions(test_nvrtc PRIVATE EBB_NVRTC_MAJOR=${_major} "EBB_FORMULAS=ebb::ops::Join<${_lists}>")
target_compile_options(test_nvrtc PRIVATE -Wno-unknown-pragmas)  # pragmas of nvcc
target_link_libraries(test_nvrtc PRIVATE ebb_test_support ebb_internals)
if(_major)
  target_link_options(test_nvrtc PRIVATE "LINKER:-rpath,${_dir}")
endif()
catch_discover_tests(test_nvrtc TEST_PREFIX "nvrtc." EXTRA_ARGS ${EBB_CATCH_STRICT}
  PROPERTIES LABELS cuda SKIP_REGULAR_EXPRESSION "skipped: there is no libnvrtc" ${EBB_TEST_PROPERTIES})
