// CUDAGraph: libtorch's name of a captured graph.
#pragma once

#include <ebb/cuda/graph.h>

#include <torch/csrc/namespaces.h>

namespace ebb::cuda {

/// A Graph with libtorch's method names (at::cuda::CUDAGraph). The captured work runs on a stream of the
/// graph.
struct CUDAGraph : Graph {
  using Graph::Graph;
  /// Does nothing, because capture_end() instantiates the graph.
  void instantiate() {}
};
using MempoolId_t = GraphPool;

}  // namespace ebb::cuda
