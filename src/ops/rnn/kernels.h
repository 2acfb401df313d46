// The kernels of recurrent layers over packed steps: of one direction, and of a whole layer by a library.
#pragma once

#include <ebb/core/ndarray.h>

#include "kernel/slot_list.h"

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

/// Sequences that lie step by step, the longest first: step t is batch_sizes[t] rows, no more than the step
/// before has. The reverse direction starts each sequence at its own end.
struct RnnSteps {
  RnnKind kind = RnnKind::tanh;
  bool reverse = false;
  DimVector batch_sizes;

  std::int64_t batch() const { return batch_sizes.empty() ? 0 : batch_sizes[0]; }
  std::int64_t count() const { return static_cast<std::int64_t>(batch_sizes.size()); }
  std::int64_t size(std::int64_t t) const { return batch_sizes[t]; }
  /// The step that is computed i-th, and how many come before it (the one that it continues, -1 at first).
  std::int64_t at(std::int64_t i) const { return reverse ? count() - 1 - i : i; }
  std::int64_t before(std::int64_t t) const { return reverse ? (t + 1 < count() ? t + 1 : -1) : t - 1; }
  /// Where the rows of each step begin.
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
  /// What is kept of a row besides its gates, in units of the hidden size: an LSTM's cell and the tanh of it,
  /// a GRU's hidden part of the new gate.
  std::int64_t extras() const { return kind == RnnKind::lstm ? 2 : kind == RnnKind::gru ? 1 : 0; }
};

/// (gates * hidden, projected), (gates * hidden) twice, (projected, hidden). Biases and projection may be
/// undefined; both biases are, or none.
struct RnnWeights {
  NdArray hidden, input_bias, hidden_bias, projection;
};

/// Of every sequence: (batch, projected), and an LSTM's cell (batch, hidden).
struct RnnState {
  NdArray hidden, cell;
};

/// What a pass writes. gates (rows, gates * hidden) holds the products of the inputs and becomes the gates:
/// LSTM i f g o, GRU r z n, otherwise the result. extras (rows, extras * hidden). result (rows, projected).
struct RnnTrace {
  NdArray gates, extras, result;
  RnnState last;
};

/// What backward writes: the slopes of gates, by the input's products and by the hidden ones (one array but
/// for GRU), the hidden state before each row, the slope of each row's projection (undefined without one) and
/// of the first state.
struct RnnSlopes {
  NdArray input, hidden, previous, projected;
  RnnState first;
};

/// The parameters of a direction in PyTorch's order: w_ih (gates * hidden, features), w_hh, b_ih, b_hh, w_hr;
/// undefined where there is none.
using RnnParameters = std::array<NdArray, 5>;

/// What a layer reads, in one direction or both: rows (rows, features), and of each direction its parameters
/// and the state that it starts from. In which direction `steps` go says nothing.
struct RnnLayer {
  struct Side {
    RnnParameters parameters;
    RnnState first;
  };
  NdArray rows;
  std::vector<Side> sides;
  RnnSteps steps;
};

/// What a layer gives: rows (rows, directions * projected), the last states (directions, batch, projected),
/// an LSTM's cells (directions, batch, hidden), and the bytes that a library's backward needs.
struct RnnOutput {
  NdArray rows, hidden, cell, kept;
};

/// The gradients of what a layer reads, the states as in RnnOutput.
struct RnnLayerGrads {
  NdArray rows, hidden, cell;
  std::vector<RnnParameters> sides;
};

}  // namespace ops

namespace cpu {
/// All arrays are contiguous and of one dtype; beside floats, weights.hidden and weights.projection may be of
/// bfloat16.
void rnn_forward(ops::RnnTrace& out, const ops::RnnState& first, const ops::RnnWeights& weights,
                 const ops::RnnSteps& steps);
/// grad: of the result; may be undefined, as may those of the last state.
void rnn_backward(ops::RnnSlopes& out, const NdArray& grad, const ops::RnnState& last,
                  const ops::RnnTrace& trace, const ops::RnnState& first, const ops::RnnWeights& weights,
                  const ops::RnnSteps& steps);

/// A whole layer by the device's library for such layers, which may decline it: `out` means nothing then.
/// out.kept is for the backward of a layer in training, undefined otherwise.
bool rnn_layer(ops::RnnOutput& out, const ops::RnnLayer& layer, bool training);
/// grads: of out's arrays, any of which may be undefined; out: the rows and what was kept.
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
