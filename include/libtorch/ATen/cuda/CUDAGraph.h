// CUDAGraph: libtorch's captured work of a device.
#pragma once

#include <ebb/cuda/graph.h>

#include <torch/csrc/namespaces.h>

namespace ebb::cuda {

/// A Graph with libtorch's names (at::cuda::CUDAGraph). What is captured runs on a stream of the graph's own.
struct CUDAGraph : Graph {
  using Graph::Graph;
  /// Done by capture_end().
  void instantiate() {}
};
using MempoolId_t = GraphPool;

}  // namespace ebb::cuda
