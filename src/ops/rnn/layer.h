// Recurrent layers as ops of the graph: in one direction, and in all of a layer's.
#pragma once

#include <ebb/autograd/node.h>
#include <ebb/autograd/variable.h>

#include "ops/rnn/kernels.h"

#include <functional>
#include <vector>

namespace ebb::ops {

/// What a layer reads, in the order of its node's edges: rows (rows, features), the first state, the weights.
/// cell is an LSTM's, projection that of an LSTM with one; biases may be undefined.
struct RnnInputs {
  enum : std::size_t {
    kRows,
    kHidden,
    kCell,
    kInputWeight,
    kHiddenWeight,
    kInputBias,
    kHiddenBias,
    kProjection
  };
  static constexpr std::size_t kCount = 8;
  Variable values[kCount];

  Variable& operator[](std::size_t i) { return values[i]; }
  const Variable& operator[](std::size_t i) const { return values[i]; }
};

/// Every hidden state, the last one and an LSTM's last cell.
struct RnnResult {
  Variable rows, hidden, cell;
};

/// What a layer gives: every hidden state, those of both directions side by side, and of each direction the
/// last one and an LSTM's last cell.
struct RnnLayerResult {
  Variable rows;
  std::vector<Variable> hidden, cell;
};

/// Throws, in the name of `op`, for inputs that do not fit each other.
void check_rnn_inputs(const char* op, const RnnInputs& in, const RnnSteps& steps);

/// One direction by ebb's kernels. Throws as check_rnn_inputs().
RnnResult rnn_direction(const char* op, const RnnInputs& in, const RnnSteps& steps);

/// The same of differentiable ops, one after another: what gradients of gradients use.
RnnResult composed_rnn_direction(const RnnInputs& in, const RnnSteps& steps);

/// A layer of one direction, or of both, which read the same rows: by the device's library for such layers
/// where that takes it, else direction by direction.
RnnLayerResult rnn_layer(const char* op, ArrayRef<RnnInputs> sides, const RnnSteps& steps);

/// The gradients of a node's inputs from those of its results by `run`, which computes the results again, of
/// stand-ins of the inputs, so that the walk ends there. They are recorded where gradients are.
autograd::GradList gradients_by(const std::function<variable_list(const variable_list&)>& run,
                                const autograd::Node& node, variable_list inputs,
                                const autograd::GradList& grads);

}  // namespace ebb::ops
