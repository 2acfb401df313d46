// A convolution as cuDNN sees it: what its plan depends on, and its operation graph.
#pragma once

#include <ebb/core/dtype.h>

#include "cuda/nvidia/dnn/descriptor.h"
#include "kernel/cuda/dnn.h"

namespace ebb::cuda::dnn {

/// Everything that a plan depends on; plans are kept by its bytes. Strides follow from sizes and layout.
struct Problem {
  std::int64_t in[5], weight[5], out[5];  // rows, channels, spatial axes
  std::int64_t stride[3], padding[3], dilation[3];
  std::int32_t axes;  // 2 or 3; one axis stands behind an axis of size 1
  std::int32_t kind, dtype;
  std::int32_t channels_last, bias, relu;
  std::int32_t tf32, deterministic, benchmarked;
  std::int32_t device, alignment, unused;

  /// `deterministic`, `tf32` and `benchmarked` as the program has set them.
  explicit Problem(const DnnConvolution& convolution);
};

/// The tensors of a graph by the names that the program binds memory to.
enum Uid : std::int64_t { kIn = 1, kWeight, kOut, kBias, kSum, kShifted };

/// Operations and all that they are made of.
struct Graph {
  std::vector<Descriptor> parts;
  Descriptor operations{CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR};
};

/// What engines are asked for: those of a device that is there, by a handle, or of one that is only
/// described.
struct Target {
  cudnnHandle_t handle = nullptr;
  const Descriptor* properties = nullptr;

  void give(Descriptor& to, cudnnBackendAttributeName_t handle_attribute,
            cudnnBackendAttributeName_t properties_attribute) const {
    if (handle)
      to.set(handle_attribute, handle);
    else
      to.set(properties_attribute, *properties);
  }
};

Graph convolution_graph(const Problem& problem, const Target& target);

/// The memory of a convolution, and scratch (may be null) for its plan, as an execution takes them.
Descriptor variant_pack(const DnnConvolution& convolution, void* workspace);

}  // namespace ebb::cuda::dnn
