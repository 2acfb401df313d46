// The GPU kernel of the custom op.
#include <ebb/core/error.h>

#include "cube.h"

namespace {

template <class T>
__global__ void cube(T* y, const T* x, const T* grad, std::int64_t n) {
  const std::int64_t i = std::int64_t{blockDim.x} * blockIdx.x + threadIdx.x;
  if (i < n) y[i] = cube_of(x[i], grad ? grad + i : nullptr);
}

}  // namespace

template <class T>
void cube_on_device(T* y, const T* x, const T* grad, std::int64_t n, void* stream) {
  if (n == 0) return;
  constexpr unsigned kThreads = 256;
  const auto blocks = static_cast<unsigned>((n + kThreads - 1) / kThreads);
  cube<<<blocks, kThreads, 0, static_cast<cudaStream_t>(stream)>>>(y, x, grad, n);
  const cudaError_t error = cudaGetLastError();
  EBB_CHECK(error == cudaSuccess, "cube: the kernel was not launched: ", cudaGetErrorString(error), ".");
}

template void cube_on_device(float*, const float*, const float*, std::int64_t, void*);
template void cube_on_device(double*, const double*, const double*, std::int64_t, void*);
