// Operation graphs, descriptor by descriptor.
#pragma once

#include "cuda/nvidia/dnn/task.h"

namespace ebb::cuda::dnn {

/// Where a tensor lives: in the device's memory; nowhere, handed from one operation to the next unrounded; in
/// the host's, as a number.
enum class Held : std::uint8_t { memory, nowhere, host };

class GraphBuilder {
 public:
  explicit GraphBuilder(const Problem& problem) : p_(problem) {
    graph_.parts.reserve(kMostParts);  // references into it are kept while it grows
  }

  cudnnDataType_t compute_type() const { return p_.type() == kDouble ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT; }

  const Descriptor& keep(Descriptor part);

  /// An array of the problem's dtype.
  const Descriptor& tensor(Uid uid, const std::int64_t* sizes) {
    return tensor(uid, sizes, data_type(), Held::memory);
  }
  const Descriptor& tensor(Uid uid, const std::int64_t* sizes, cudnnDataType_t type, Held held);
  /// The same in any strides, or in an order of the engine's own.
  const Descriptor& tensor(Uid uid, const std::vector<std::int64_t>& sizes,
                           const std::vector<std::int64_t>& strides, cudnnDataType_t type, Held held,
                           cudnnBackendTensorReordering_t order = CUDNN_TENSOR_REORDERING_NONE);
  /// A value a channel.
  const Descriptor& per_channel(Uid uid, cudnnDataType_t type);
  const Descriptor& per_channel(Uid uid) { return per_channel(uid, data_type()); }

  const Descriptor& pointwise(cudnnPointwiseMode_t mode, const Descriptor& x, const Descriptor* b,
                              const Descriptor& y);

  /// What lies behind the input so that `out` windows of a reach fit: at least as much as before it, more for
  /// padding "same" of an even kernel and for windows that were rounded up.
  std::vector<std::int64_t> post_padding(const std::int64_t* reach) const;

  Graph finish(const std::vector<cudnnBackendDescriptor_t>& operations, const Target& target) &&;

  /// That of the problem's arrays.
  cudnnDataType_t data_type() const;

 private:
  static constexpr std::size_t kMostParts = 128;

  const Problem& p_;
  Graph graph_;
};

}  // namespace ebb::cuda::dnn
