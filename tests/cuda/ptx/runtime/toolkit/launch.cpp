// Launches, by all the functions through which nvcc's code and the C++ API make them.
#include <cuda_runtime_api.h>

#include "cuda/ptx/runtime/bridge.h"
#include "cuda/ptx/runtime/kernels.h"

namespace {

using namespace ebb::ptx;

struct Configuration {
  dim3 blocks, threads;
  std::size_t shared_bytes = 0;
  cudaStream_t stream = nullptr;
};

// Between the two calls that nvcc makes of <<<>>>.
thread_local Configuration pushed;

Extent extent(const dim3& d) { return {d.x, d.y, d.z}; }

cudaError_t launch(const void* host_or_kernel, const Configuration& c, void** arguments) {
  Kernel* const kernel = find_kernel(host_or_kernel);
  if (!kernel) return static_cast<cudaError_t>(set_error(cudaErrorInvalidDeviceFunction));
  const Grid grid{extent(c.blocks), extent(c.threads), c.shared_bytes};
  return static_cast<cudaError_t>(ebb::ptx::launch(*kernel, grid, arguments, c.stream));
}

}  // namespace

extern "C" {

unsigned __cudaPushCallConfiguration(dim3 blocks, dim3 threads, std::size_t shared_bytes,
                                     CUstream_st* stream) {
  pushed = {blocks, threads, shared_bytes, stream};
  return 0;
}
cudaError_t __cudaPopCallConfiguration(dim3* blocks, dim3* threads, std::size_t* shared_bytes, void* stream) {
  *blocks = pushed.blocks;
  *threads = pushed.threads;
  *shared_bytes = pushed.shared_bytes;
  *static_cast<cudaStream_t*>(stream) = pushed.stream;
  return cudaSuccess;
}

cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* host) {
  *kernel = reinterpret_cast<cudaKernel_t>(find_kernel(host));
  return *kernel ? cudaSuccess : cudaErrorInvalidDeviceFunction;
}
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 blocks, dim3 threads, void** arguments,
                               std::size_t shared_bytes, cudaStream_t stream) {
  return launch(kernel, {blocks, threads, shared_bytes, stream}, arguments);
}

cudaError_t cudaLaunchKernel(const void* host, dim3 blocks, dim3 threads, void** arguments,
                             std::size_t shared_bytes, cudaStream_t stream) {
  return launch(host, {blocks, threads, shared_bytes, stream}, arguments);
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* c, const void* host, void** arguments) {
  if (c->numAttrs > 0)  // clusters and the like
    return static_cast<cudaError_t>(set_error(cudaErrorNotSupported));
  return launch(host, {c->gridDim, c->blockDim, c->dynamicSmemBytes, c->stream}, arguments);
}

}  // extern "C"
