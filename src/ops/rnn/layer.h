// Recurrent layers as differentiable ops, in one direction and in all directions of a layer, and checks of
// the lengths and batch sizes of packed sequences.
#pragma once

#include <ebb/autograd/node.h>
#include <ebb/autograd/variable.h>

#include "ops/rnn/kernels.h"

#include <functional>
#include <vector>

namespace ebb::ops {

/// The inputs of a layer in the order of its node's edges: rows (rows, features), the initial state, the
/// weights. An LSTM has a cell and may have a projection. Biases may be undefined.
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

/// The results of one direction: all hidden states (`rows`), the last hidden state, and an LSTM's last cell.
struct RnnResult {
  Variable rows, hidden, cell;
};

/// The results of a layer: all hidden states, where the states of both directions are concatenated, and for
/// each direction the last hidden state and an LSTM's last cell.
struct RnnLayerResult {
  Variable rows;
  std::vector<Variable> hidden, cell;
};

/// Throws, in the name of `op`, if the shapes of the inputs do not match.
void check_rnn_inputs(const char* op, const RnnInputs& in, const RnnSteps& steps);

/// Computes one direction with ebb's kernels. Throws like check_rnn_inputs().
RnnResult rnn_direction(const char* op, const RnnInputs& in, const RnnSteps& steps);

/// Computes the results of rnn_direction() with differentiable ops, for double backward.
RnnResult composed_rnn_direction(const RnnInputs& in, const RnnSteps& steps);

/// Computes a layer of one direction, or of both directions, which read the same rows. It uses the device's
/// library if the library supports the layer. Otherwise it computes one direction after another.
RnnLayerResult rnn_layer(const char* op, ArrayRef<RnnInputs> sides, const RnnSteps& steps);

/// Returns the gradients of a node's inputs, given the gradients of its results. `run` computes the results
/// again from placeholders of the inputs, and the backward pass through these results ends at the
/// placeholders. The gradients are recorded if gradient mode is on.
autograd::GradList gradients_by(const std::function<variable_list(const variable_list&)>& run,
                                const autograd::Node& node, variable_list inputs,
                                const autograd::GradList& grads);

/// Returns the elements of a vector of integers on the CPU. In the error messages of `op`, the vector is
/// called `what`.
DimVector checked_integers(const char* op, const char* what, const Variable& x);

/// Returns the number of data's rows in each step. Throws unless these numbers add up to the number of rows
/// of `data` and never increase.
DimVector checked_batch_sizes(const char* op, const Variable& data, const Variable& batch_sizes);

}  // namespace ebb::ops
