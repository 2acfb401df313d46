// The formulas of the op for one number, and the CUDA kernels that compute them for arrays.
#pragma once

#include <cmath>
#include <cstdint>

// nvcc compiles them for the GPU too; other compilers do not know these words.
#ifdef __CUDACC__
#define SNAKE_ANYWHERE __host__ __device__
#else
#define SNAKE_ANYWHERE
#endif

template <class T>
SNAKE_ANYWHERE T snake_value(T x, T frequency) {
  const T sine = std::sin(frequency * x);
  return x + sine * sine / frequency;
}

template <class T>
SNAKE_ANYWHERE T snake_slope(T x, T frequency) {
  return 1 + std::sin(2 * frequency * x);
}

/// y[i] = value(x[i]), or slope(x[i]) * grad[i] if there is a grad, for n numbers in the memory of a device,
/// on one of its streams (a cudaStream_t). Throws ebb::Error if it cannot be launched.
template <class T>
void snake_cuda(T* y, const T* x, const T* grad, T frequency, std::int64_t n, void* stream);
