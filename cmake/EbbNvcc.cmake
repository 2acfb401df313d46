# nvcc and NVIDIA's libraries, for the CUDA plugin alone.

# Before the language is enabled: CMake would choose an old architecture by itself.
set(CMAKE_CUDA_ARCHITECTURES 90-real CACHE STRING "GPU architectures to build kernels for")
find_program(EBB_NVCC nvcc HINTS ENV CUDACXX ENV CUDA_PATH /usr/local/cuda PATH_SUFFIXES bin)
mark_as_advanced(EBB_NVCC)
if(EBB_NVCC AND NOT CMAKE_CUDA_COMPILER)
  set(CMAKE_CUDA_COMPILER ${EBB_NVCC})
endif()
if(EBB_CCACHE AND NOT DEFINED CMAKE_CUDA_COMPILER_LAUNCHER)
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${EBB_CCACHE})
endif()
enable_language(CUDA)
if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake 3.25 does not know that nvcc knows C++20
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
endif()
find_package(CUDAToolkit 12.4 REQUIRED)

# What kernels are compiled with: NaN and infinity keep their meaning, so no fast math.
function(ebb_link_cuda target)
  set_target_properties(${target} PROPERTIES CUDA_VISIBILITY_PRESET hidden)
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr;--extended-lambda;--split-compile=2;-Xcudafe;--diag_suppress=186>)
  target_link_libraries(${target} PRIVATE CUDA::cudart CUDA::cublasLt)
endfunction()
