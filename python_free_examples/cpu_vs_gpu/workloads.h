// The three workloads of cpu_vs_gpu, each for a list of sizes.
#pragma once

#include <ebb/watch.h>

#include <string>
#include <vector>

/// The times of one size in seconds. A negative time was not measured.
struct Timing {
  std::int64_t size = 0;
  double cpu = -1;
  double gpu = -1;                ///< the inputs are already on the GPU
  double gpu_with_transfer = -1;  ///< includes the copies of the inputs to the GPU and of the result back
};

struct Workload {
  std::string title, size_name;
  std::vector<Timing> timings;
};

/// Vector additions of 10^3 ... `largest` elements.
Workload vector_add(std::int64_t largest, bool on_gpu);
/// N x N matrix products for N = 64 ... `largest`.
Workload matrix_product(std::int64_t largest, bool on_gpu);
/// y = sigmoid(W x + b) for layers of N inputs and outputs and a batch of 256.
Workload dense_layer(std::int64_t largest, bool on_gpu);
