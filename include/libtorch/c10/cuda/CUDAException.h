// C10_CUDA_CHECK: converts errors of the CUDA runtime to exceptions.
#pragma once

#include <c10/util/Exception.h>

#if __has_include(<cuda_runtime_api.h>)
#include <cuda_runtime_api.h>
#endif

/// Throws c10::Error if the call of the CUDA runtime fails. The program must link with the runtime.
#define C10_CUDA_CHECK(call)                                                                              \
  do {                                                                                                    \
    const cudaError_t cuda_check_result = call;                                                           \
    TORCH_CHECK(cuda_check_result == cudaSuccess, "CUDA error: ", cudaGetErrorString(cuda_check_result)); \
  } while (false)
#define C10_CUDA_CHECK_WARN(call)                                          \
  do {                                                                     \
    const cudaError_t cuda_check_result = call;                            \
    if (cuda_check_result != cudaSuccess) {                                \
      static_cast<void>(cudaGetLastError());                               \
      TORCH_WARN("CUDA warning: ", cudaGetErrorString(cuda_check_result)); \
    }                                                                      \
  } while (false)
#define C10_CUDA_IGNORE_ERROR(call) static_cast<void>(call)
#define C10_CUDA_KERNEL_LAUNCH_CHECK() C10_CUDA_CHECK(cudaGetLastError())
#define AT_CUDA_CHECK(call) C10_CUDA_CHECK(call)
#define TORCH_CUDA_CHECK(call) C10_CUDA_CHECK(call)
