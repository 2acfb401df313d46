// The formulas of snake for one element, and the CUDA kernel that computes them for arrays.
#pragma once

#include <cmath>
#include <cstdint>

// nvcc compiles the formulas also for the GPU. Other compilers do not have these attributes.
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
SNAKE_ANYWHERE T snake_derivative(T x, T frequency) {
  return 1 + std::sin(2 * frequency * x);
}

/// Computes y[i] = value(x[i]), or derivative(x[i]) * grad[i] if grad is not null, for n elements in device
/// memory. The stream is a cudaStream_t of the device. Throws ebb::Error if the launch fails.
template <class T>
void snake_cuda(T* y, const T* x, const T* grad, T frequency, std::int64_t n, void* stream);
