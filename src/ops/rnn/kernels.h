// Kernel slots of recurrent layers over packed steps: one direction with ebb's kernels, and a whole layer
// with a library.
#pragma once

#include <ebb/core/ndarray.h>

#include "kernel/call/slot.h"

#include <array>
#include <vector>

namespace ebb {

namespace ops {

enum class RnnKind : std::uint8_t { tanh, relu, lstm, gru };

/// Calls f<Kind>() with the kind as a constant.
template <class F>
void visit_kind(RnnKind kind, const F& f) {
  switch (kind) {
    case RnnKind::tanh:
      return f.template operator()<RnnKind::tanh>();
    case RnnKind::relu:
      return f.template operator()<RnnKind::relu>();
    case RnnKind::lstm:
      return f.template operator()<RnnKind::lstm>();
    case RnnKind::gru:
      return f.template operator()<RnnKind::gru>();
  }
}

/// Packed sequences, stored step by step, the longest first. Step t has batch_sizes[t] rows, at most as many
/// as the previous step. The reverse direction starts each sequence at its own end.
struct RnnSteps {
  RnnKind kind = RnnKind::tanh;
  bool reverse = false;
  DimVector batch_sizes;

  std::int64_t batch() const { return batch_sizes.empty() ? 0 : batch_sizes[0]; }
  std::int64_t count() const { return static_cast<std::int64_t>(batch_sizes.size()); }
  std::int64_t size(std::int64_t t) const { return batch_sizes[t]; }
  /// at(i) is the i-th step in the order of computation. before(t) is the step that precedes step t in this
  /// order, or -1.
  std::int64_t at(std::int64_t i) const { return reverse ? count() - 1 - i : i; }
  std::int64_t before(std::int64_t t) const { return reverse ? (t + 1 < count() ? t + 1 : -1) : t - 1; }
  /// Returns the first row of each step.
  DimVector offsets() const {
    DimVector first;
    std::int64_t total = 0;
    for (const std::int64_t rows : batch_sizes) {
      first.push_back(total);
      total += rows;
    }
    return first;
  }
  std::int64_t gates() const { return kind == RnnKind::lstm ? 4 : kind == RnnKind::gru ? 3 : 1; }
  /// The values that are saved for a row in addition to its gates, in units of the hidden size: an LSTM's
  /// cell and its tanh, or the hidden part of a GRU's new gate.
  std::int64_t extras() const { return kind == RnnKind::lstm ? 2 : kind == RnnKind::gru ? 1 : 0; }
};

/// Shapes: hidden (gates * hidden, projected), both biases (gates * hidden), projection (projected, hidden).
/// Biases and projection may be undefined; either both biases are defined or neither.
struct RnnWeights {
  NdArray hidden, input_bias, hidden_bias, projection;
};

/// The state of all sequences: (batch, projected), and an LSTM's cell (batch, hidden).
struct RnnState {
  NdArray hidden, cell;
};

/// The outputs of a forward pass. Shapes: `gates` (rows, gates * hidden), `extras` (rows, extras * hidden),
/// `result` (rows, projected). Before the call, `gates` contains the products of the inputs. The call
/// replaces these products by the gates: i f g o for LSTM, r z n for GRU, otherwise the result.
struct RnnTrace {
  NdArray gates, extras, result;
  RnnState last;
};

/// The outputs of a backward pass. `input` and `hidden` are the gradients of the gates' input products and
/// hidden products; they are the same array, unless the layer is a GRU. `previous` is the hidden state before
/// each row. `projected` is the gradient of each row's projection (undefined without a projection). `first`
/// contains the gradients of the initial state.
struct RnnGateGrads {
  NdArray input, hidden, previous, projected;
  RnnState first;
};

/// The parameters of a direction in PyTorch's order: w_ih (gates * hidden, features), w_hh, b_ih, b_hh, w_hr.
/// A missing parameter is undefined.
using RnnParameters = std::array<NdArray, 5>;

/// The inputs of a layer with one or both directions. `rows` has the shape (rows, features). `sides` contains
/// the parameters and the initial state of each direction. steps.reverse is ignored.
struct RnnLayer {
  struct Side {
    RnnParameters parameters;
    RnnState first;
  };
  NdArray rows;
  std::vector<Side> sides;
  RnnSteps steps;
};

/// The outputs of a layer. Shapes: `rows` (rows, directions * projected); `hidden`, the last states,
/// (directions, batch, projected); `cell`, an LSTM's last cells, (directions, batch, hidden). `kept` contains
/// the bytes that a library saves for its backward pass.
struct RnnOutput {
  NdArray rows, hidden, cell, kept;
};

/// The gradients of a layer's inputs. States have the shapes of RnnOutput.
struct RnnLayerGrads {
  NdArray rows, hidden, cell;
  std::vector<RnnParameters> sides;
};

}  // namespace ops

namespace cpu {
/// Runs the steps of one direction. All arrays are contiguous and have the same dtype. With float arrays,
/// weights.hidden and weights.projection may be bfloat16.
void rnn_forward(ops::RnnTrace& out, const ops::RnnState& first, const ops::RnnWeights& weights,
                 const ops::RnnSteps& steps);
/// Runs the steps backward. `grad` is the gradient of the result. `grad` and the gradients in `last` may be
/// undefined.
void rnn_backward(ops::RnnGateGrads& out, const NdArray& grad, const ops::RnnState& last,
                  const ops::RnnTrace& trace, const ops::RnnState& first, const ops::RnnWeights& weights,
                  const ops::RnnSteps& steps);

/// Computes a whole layer with the device's library. If the library does not support the layer, returns
/// false, and `out` is unspecified. In training, out.kept receives the data for the backward pass; otherwise
/// it is undefined.
bool rnn_layer(ops::RnnOutput& out, const ops::RnnLayer& layer, bool training);
/// Computes the gradients of a layer. `grads` contains the gradients of the layer's outputs; each may be
/// undefined. `out` contains the rows and the saved bytes of the forward pass.
bool rnn_layer_backward(ops::RnnLayerGrads& found, const ops::RnnOutput& grads, const ops::RnnOutput& out,
                        const ops::RnnLayer& layer, bool of_parameters);
}  // namespace cpu

}  // namespace ebb

#define EBB_RNN_KERNELS(X)         \
  X(rnn_forward, "rnn");           \
  X(rnn_backward, "rnn_backward"); \
  X(rnn_layer, "rnn_layer");       \
  X(rnn_layer_backward, "rnn_layer_backward");
EBB_DECLARE_KERNELS(EBB_RNN_KERNELS)
