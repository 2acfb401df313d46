// One recurrent layer in one direction as an op of the graph.
#pragma once

#include <ebb/autograd/variable.h>

#include "ops/rnn/kernels.h"

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

/// Throws, in the name of `op`, for inputs that do not fit each other.
RnnResult rnn_layer(const char* op, const RnnInputs& in, const RnnSteps& steps);

/// The same of differentiable ops, one after another: what gradients of gradients use.
RnnResult composed_rnn_layer(const RnnInputs& in, const RnnSteps& steps);

}  // namespace ebb::ops
