# The CUDA backend: selects EBB_CUDA_BACKEND (ON, OFF, EMU or PTX) and adds src/cuda, which defines ebb::cuda.

set(EBB_CUDA_BACKEND ${EBB_CUDA})
if(EBB_CUDA STREQUAL "AUTO")
  find_program(EBB_NVCC nvcc HINTS ENV CUDACXX ENV CUDA_PATH /usr/local/cuda PATH_SUFFIXES bin)
  mark_as_advanced(EBB_NVCC)
  if(EBB_NVCC AND BUILD_SHARED_LIBS AND (EXISTS /dev/nvidia0 OR EXISTS /dev/dxg))
    set(EBB_CUDA_BACKEND ON)
  else()
    set(EBB_CUDA_BACKEND OFF)
  endif()
endif()

if(EBB_CUDA_BACKEND STREQUAL "OFF")
  message(STATUS "ebb: CPU only (EBB_CUDA=${EBB_CUDA})")
else()
  message(STATUS "ebb: CUDA backend ${EBB_CUDA_BACKEND}")
  if(EBB_CUDA_BACKEND MATCHES "^(ON|PTX)$")
    include(cmake/EbbNvcc.cmake)  # a language must be enabled at the top level
  endif()
  add_subdirectory(src/cuda)
endif()
