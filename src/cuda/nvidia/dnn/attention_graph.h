// The operations that cuDNN's attention engines recognise, for scores (N, H, L, S).
#pragma once

#include "cuda/nvidia/dnn/graph_builder.h"

#include <optional>

namespace ebb::cuda::dnn {

using Lengths = std::vector<std::int64_t>;

/// An operand of an operation.
struct Operand {
  const Descriptor* descriptor;
  Lengths sizes, strides;
};

/// Returns an operand on the same memory, with its last two dimensions exchanged and without a descriptor.
Operand exchanged(const Operand& x);

/// Builds a graph operation by operation. The result of an operation is a virtual tensor in float, unless the
/// caller passes an output array.
class AttentionGraph {
 public:
  explicit AttentionGraph(const Problem& problem) : build_(problem) {}

  /// Adds an array in memory. It has the problem's dtype unless a type is given.
  Operand array(Uid uid, const Lengths& sizes, const Lengths& strides,
                std::optional<cudnnDataType_t> type = {});
  Operand array(Uid uid, const Lengths& sizes, std::optional<cudnnDataType_t> type = {});
  /// Adds a Float array to which the blocks of a product add with atomics. The array is contiguous, but the
  /// engine may reorder its elements, so only operations of the same graph can read it.
  Operand sum_in_memory(Uid uid, const Lengths& sizes);
  /// Adds a Float scalar in host memory.
  Operand number(Uid uid);
  /// Adds a virtual tensor.
  Operand between(const Lengths& sizes, const Lengths& strides, cudnnDataType_t type);
  Operand between(const Lengths& sizes, cudnnDataType_t type = CUDNN_DATA_FLOAT);
  /// Adds a virtual tensor in the problem's dtype.
  Operand rounded(const Lengths& sizes) { return between(sizes, build_.data_type()); }

  Operand matmul(const Operand& a, const Operand& b, const std::optional<Operand>& out = {});
  Operand pointwise(cudnnPointwiseMode_t mode, const Operand& x, const std::optional<Operand>& b = {},
                    const std::optional<Operand>& out = {});
  /// Reduces over the dimensions that are smaller in `out`.
  Operand reduce(cudnnReduceTensorOp_t how, const Operand& x, const Operand& out);
  /// Returns x with its last two dimensions exchanged, in the problem's dtype.
  Operand transpose(const Operand& x);
  /// Returns `scores`, with `never` in all elements whose key index is greater than the query index.
  Operand causal(const Operand& scores, const Operand& never);

  Graph finish(const Target& target) && { return std::move(build_).finish(operations_, target); }

 private:
  Operand index(const Operand& like, std::int64_t axis);
  const Descriptor& kind(cudnnPointwiseMode_t mode, cudnnDataType_t type,
                         std::optional<std::int64_t> axis = {});
  void add(Descriptor operation) { operations_.push_back(build_.keep(std::move(operation)).raw()); }

  GraphBuilder build_;
  std::vector<cudnnBackendDescriptor_t> operations_;
  std::int64_t next_ = kFirstBetween;
};

}  // namespace ebb::cuda::dnn
