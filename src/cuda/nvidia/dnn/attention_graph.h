// The operations that cuDNN's engines of attention recognise, over scores (N, H, L, S).
#pragma once

#include "cuda/nvidia/dnn/graph_builder.h"

#include <optional>

namespace ebb::cuda::dnn {

using Lengths = std::vector<std::int64_t>;

/// An array as operations see it.
struct Operand {
  const Descriptor* descriptor;
  Lengths sizes, strides;
};

/// The same memory with its last two dimensions exchanged; names no descriptor.
Operand exchanged(const Operand& x);

/// A graph that grows operation by operation. What an operation makes is handed on to the next ones in float,
/// unless it is told where to write.
class AttentionGraph {
 public:
  explicit AttentionGraph(const Problem& problem) : build_(problem) {}

  /// An array in memory, of the problem's dtype unless a type is given.
  Operand array(Uid uid, const Lengths& sizes, const Lengths& strides,
                std::optional<cudnnDataType_t> type = {});
  Operand array(Uid uid, const Lengths& sizes, std::optional<cudnnDataType_t> type = {});
  /// An array of Float that the blocks of a product add to by atomics. It is contiguous; the engine may put
  /// its elements in an order of its own, which is why only an operation of the same graph can read it.
  Operand sum_in_memory(Uid uid, const Lengths& sizes);
  /// A Float of the host's.
  Operand number(Uid uid);
  /// What is handed on.
  Operand between(const Lengths& sizes, const Lengths& strides, cudnnDataType_t type);
  Operand between(const Lengths& sizes, cudnnDataType_t type = CUDNN_DATA_FLOAT);
  /// The same in the problem's dtype.
  Operand rounded(const Lengths& sizes) { return between(sizes, build_.data_type()); }

  Operand matmul(const Operand& a, const Operand& b, const std::optional<Operand>& out = {});
  Operand pointwise(cudnnPointwiseMode_t mode, const Operand& x, const std::optional<Operand>& b = {},
                    const std::optional<Operand>& out = {});
  /// Over the dimensions that are shorter in `out`.
  Operand reduce(cudnnReduceTensorOp_t how, const Operand& x, const Operand& out);
  /// x with its last two dimensions exchanged, in the problem's dtype.
  Operand transpose(const Operand& x);
  /// `scores`, with `never` where the key's number is greater than the query's.
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
