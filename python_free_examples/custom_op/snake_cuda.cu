// The CUDA kernel of snake.
#include <ebb/core/error.h>

#include "snake_kernels.h"

#include <algorithm>

namespace {

template <class T>
__global__ void kernel(T* y, const T* x, const T* grad, T frequency, std::int64_t n) {
  const std::int64_t stride = std::int64_t{blockDim.x} * gridDim.x;
  for (std::int64_t i = std::int64_t{blockDim.x} * blockIdx.x + threadIdx.x; i < n; i += stride)
    y[i] = grad ? snake_derivative(x[i], frequency) * grad[i] : snake_value(x[i], frequency);
}

}  // namespace

template <class T>
void snake_cuda(T* y, const T* x, const T* grad, T frequency, std::int64_t n, void* stream) {
  if (n == 0) return;
  constexpr std::int64_t kThreads = 256, kMostBlocks = 65536;
  const auto blocks = static_cast<unsigned>(std::min((n + kThreads - 1) / kThreads, kMostBlocks));
  kernel<<<blocks, kThreads, 0, static_cast<cudaStream_t>(stream)>>>(y, x, grad, frequency, n);
  const cudaError_t error = cudaGetLastError();
  EBB_CHECK(error == cudaSuccess, "snake: the launch of the kernel failed: ", cudaGetErrorString(error), ".");
}

template void snake_cuda(float*, const float*, const float*, float, std::int64_t, void*);
template void snake_cuda(double*, const double*, const double*, double, std::int64_t, void*);
