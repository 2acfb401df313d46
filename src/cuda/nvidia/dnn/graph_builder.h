// GraphBuilder: builds cuDNN operation graphs, descriptor by descriptor.
#pragma once

#include "cuda/nvidia/dnn/task.h"

namespace ebb::cuda::dnn {

/// The location of a tensor's elements. `memory` is device memory, and `host` is host memory, for a single
/// scalar. `nowhere` is for a virtual tensor, which the engine passes between operations without rounding.
enum class Held : std::uint8_t { memory, nowhere, host };

class GraphBuilder {
 public:
  explicit GraphBuilder(const Problem& problem) : p_(problem) {
    graph_.parts.reserve(kMostParts);  // no reallocation, so that references to parts remain valid
  }

  cudnnDataType_t compute_type() const { return p_.type() == kDouble ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT; }

  const Descriptor& keep(Descriptor part);

  /// Adds an array of the problem's dtype.
  const Descriptor& tensor(Uid uid, const std::int64_t* sizes) {
    return tensor(uid, sizes, data_type(), Held::memory);
  }
  const Descriptor& tensor(Uid uid, const std::int64_t* sizes, cudnnDataType_t type, Held held);
  /// Adds an array of the problem's dtype with any strides, or with the engine's own element order.
  const Descriptor& tensor(Uid uid, const std::vector<std::int64_t>& sizes,
                           const std::vector<std::int64_t>& strides, cudnnDataType_t type, Held held,
                           cudnnBackendTensorReordering_t order = CUDNN_TENSOR_REORDERING_NONE);
  /// Adds an array with one value per channel.
  const Descriptor& per_channel(Uid uid, cudnnDataType_t type);
  const Descriptor& per_channel(Uid uid) { return per_channel(uid, data_type()); }

  const Descriptor& pointwise(cudnnPointwiseMode_t mode, const Descriptor& x, const Descriptor* b,
                              const Descriptor& y);

  /// Returns, for each axis, the padding after the input that `out` windows of extent reach[axis] need, but
  /// at least the padding before the input. It is larger than the padding before the input for "same" padding
  /// with an even kernel, and if the number of windows is rounded up.
  std::vector<std::int64_t> post_padding(const std::int64_t* reach) const;

  Graph finish(const std::vector<cudnnBackendDescriptor_t>& operations, const Target& target) &&;

  /// Returns the cuDNN type of the problem's arrays.
  cudnnDataType_t data_type() const;

 private:
  static constexpr std::size_t kMostParts = 128;

  const Problem& p_;
  Graph graph_;
};

}  // namespace ebb::cuda::dnn
