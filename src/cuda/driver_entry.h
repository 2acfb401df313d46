// Looks up functions of the CUDA driver through the runtime, because libcuda is not linked.
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

namespace ebb::cuda {

/// Looks up a function of the driver by name. Returns false if the driver does not have it.
template <class F>
bool find_in_driver(F*& function, const char* name) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult status{};
#if CUDART_VERSION >= 12050
  constexpr unsigned kVersion = 12000;  // the version of the function signatures
  const cudaError_t error =
      cudaGetDriverEntryPointByVersion(name, &found, kVersion, cudaEnableDefault, &status);
#else
  const cudaError_t error = cudaGetDriverEntryPoint(name, &found, cudaEnableDefault, &status);
#endif
  if (error != cudaSuccess) cudaGetLastError();
  function = reinterpret_cast<F*>(found);
  return error == cudaSuccess && status == cudaDriverEntryPointSuccess && function;
}

}  // namespace ebb::cuda
