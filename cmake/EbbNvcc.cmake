# nvcc and NVIDIA's libraries, only for the CUDA plugin. EBB_CUDA=PTX needs nvcc and the headers of the toolkit, but no
# library.

# This comes before the language is enabled, because CMake would select an old architecture. AUTO builds for the
# installed GPU.
if(EBB_CUDA STREQUAL "AUTO")
  set(_architectures native)
else()
  set(_architectures 90-real)
endif()
set(CMAKE_CUDA_ARCHITECTURES ${_architectures} CACHE STRING "GPU architectures to build kernels for")
if(EBB_CUDA_BACKEND STREQUAL "PTX")  # the architecture that the interpreter reads
  set(CMAKE_CUDA_ARCHITECTURES 90-virtual)
endif()
find_program(EBB_NVCC nvcc HINTS ENV CUDACXX ENV CUDA_PATH /usr/local/cuda PATH_SUFFIXES bin)
mark_as_advanced(EBB_NVCC)
if(EBB_NVCC AND NOT CMAKE_CUDA_COMPILER)
  set(CMAKE_CUDA_COMPILER ${EBB_NVCC})
endif()
enable_language(CUDA)
if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake 3.25 does not know that nvcc supports C++20
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
endif()
find_package(CUDAToolkit 12.4 REQUIRED)

# cuDNN has no CMake package. Its headers are required. The library is opened on first use; its location is searched
# here, so that it is found later. Wheels often contain it only under its versioned name.
file(GLOB _wheels LIST_DIRECTORIES true
  /usr/lib/python3*/site-packages/nvidia/cudnn /usr/local/lib/python3*/*-packages/nvidia/cudnn)
find_path(CUDNN_INCLUDE_DIR cudnn_graph.h
  HINTS ${CUDNN_ROOT} ENV CUDNN_ROOT ${CUDAToolkit_INCLUDE_DIRS} ${_wheels} PATH_SUFFIXES include)
find_library(CUDNN_LIBRARY NAMES cudnn libcudnn.so.9
  HINTS ${CUDNN_ROOT} ENV CUDNN_ROOT ${CUDAToolkit_LIBRARY_DIR} ${_wheels} PATH_SUFFIXES lib lib64)
mark_as_advanced(CUDNN_INCLUDE_DIR CUDNN_LIBRARY)
if(CUDNN_INCLUDE_DIR AND NOT EBB_CUDA_BACKEND STREQUAL "PTX")
  file(STRINGS ${CUDNN_INCLUDE_DIR}/cudnn_version.h _version REGEX "#define CUDNN_(MAJOR|MINOR|PATCHLEVEL) ")
  list(TRANSFORM _version REPLACE "[^0-9]*([0-9]+).*" "\\1")
  list(JOIN _version "." EBB_CUDNN_VERSION)
  if(EBB_CUDNN_VERSION VERSION_GREATER_EQUAL 9.8)
    add_library(ebb_cudnn INTERFACE)
    target_link_libraries(ebb_cudnn INTERFACE CUDA::cudart ${CMAKE_DL_LIBS})
    target_include_directories(ebb_cudnn SYSTEM INTERFACE ${CUDNN_INCLUDE_DIR})
  endif()
endif()
if(EBB_CUDA_BACKEND STREQUAL "PTX")
  message(STATUS "ebb: kernels are interpreted, and cuDNN is left out")
elseif(TARGET ebb_cudnn)
  message(STATUS "ebb: convolutions, batch norm, attention and recurrent layers by cuDNN ${EBB_CUDNN_VERSION} where programs find it (here: ${CUDNN_LIBRARY})")
else()
  message(STATUS "ebb: cuDNN's headers, 9.8 or later, not found (set CUDNN_ROOT): convolutions by ebb's own, slow kernels")
endif()

# Flags of the kernels: NaN and infinity keep their meaning, so no fast math.
function(ebb_link_cuda target)
  set_target_properties(${target} PROPERTIES CUDA_VISIBILITY_PRESET hidden)
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr;--extended-lambda;--split-compile=2;-Xcudafe;--diag_suppress=186>)
  if(EBB_CUDA_BACKEND STREQUAL "PTX")  # tests/cuda/ptx/runtime replaces both libraries
    set_target_properties(${target} PROPERTIES CUDA_RUNTIME_LIBRARY None)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:--no-compress>)
    target_link_libraries(${target} PRIVATE CUDA::toolkit ${CMAKE_DL_LIBS})
  else()
    target_link_libraries(${target} PRIVATE CUDA::cudart CUDA::cublasLt)
  endif()
endfunction()

# The folders of the libraries of `ebb_link_cuda` and of cuDNN: the system loader often does not know those of toolkits
# and wheels.
function(ebb_cuda_library_dirs out)
  set(_dirs)
  foreach(_library IN ITEMS CUDA::cudart CUDA::cublasLt)
    get_target_property(_file ${_library} IMPORTED_LOCATION)
    get_filename_component(_dir ${_file} DIRECTORY)
    list(APPEND _dirs ${_dir})
  endforeach()
  if(TARGET ebb_cudnn AND CUDNN_LIBRARY)
    get_filename_component(_dir ${CUDNN_LIBRARY} DIRECTORY)
    list(APPEND _dirs ${_dir})
  endif()
  list(REMOVE_DUPLICATES _dirs)
  set(${out} ${_dirs} PARENT_SCOPE)
endfunction()
