// The three classic workloads of "CPU against GPU", each at a list of sizes.
#pragma once

#include <ebb/ebb.h>

#include <string>
#include <vector>

/// Seconds of one size; a negative one was not measured.
struct Timing {
  std::int64_t size = 0;
  double cpu = -1;
  double gpu = -1;                ///< inputs on the device already
  double gpu_with_transfer = -1;  ///< inputs moved there and the result moved back
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
