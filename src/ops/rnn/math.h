// One step of a recurrent cell, for a scalar or a vector, on host and device.
#pragma once

#include "kernel/carrier.h"

namespace ebb::ops {

using std::tanh;

/// The gates of an LSTM's unit, its cell and the tanh of the cell (Hochreiter and Schmidhuber 1997).
template <class X>
struct LstmUnit {
  X input, forget, candidate, output, cell, squashed;

  /// Computes the unit from the arguments of the gates' activations and the previous cell.
  EBB_HD static LstmUnit of(X i, X f, X g, X o, X cell_before) {
    LstmUnit u;
    u.input = sigmoid(i);
    u.forget = sigmoid(f);
    u.candidate = tanh(g);
    u.output = sigmoid(o);
    u.cell = u.forget * cell_before + u.input * u.candidate;
    u.squashed = tanh(u.cell);
    return u;
  }
  EBB_HD X hidden() const { return output * squashed; }
};

/// The gradients of an LSTM's gates and of the previous cell.
template <class X>
struct LstmGrads {
  X input, forget, candidate, output, cell;

  /// Computes the gradients from the gradients of the hidden state and of the cell.
  EBB_HD static LstmGrads of(const LstmUnit<X>& u, X cell_before, X hidden, X cell) {
    LstmGrads s;
    const X all = cell + hidden * u.output * (1 - u.squashed * u.squashed);
    s.input = all * u.candidate * (u.input * (1 - u.input));
    s.forget = all * cell_before * (u.forget * (1 - u.forget));
    s.candidate = all * u.input * (1 - u.candidate * u.candidate);
    s.output = hidden * u.squashed * (u.output * (1 - u.output));
    s.cell = all * u.forget;
    return s;
  }
};

/// The gates of a GRU's unit (Cho et al. 2014), with the reset after the product: the reset gate multiplies
/// `hidden_part`.
template <class X>
struct GruUnit {
  X reset, update, fresh, hidden_part;

  EBB_HD static GruUnit of(X r, X z, X n, X hidden_part) {
    GruUnit u;
    u.reset = sigmoid(r);
    u.update = sigmoid(z);
    u.fresh = tanh(n + u.reset * hidden_part);
    u.hidden_part = hidden_part;
    return u;
  }
  EBB_HD X hidden(X before) const { return fresh + update * (before - fresh); }
};

/// The gradients of a GRU's gates and of the hidden part, and the part of the previous state's gradient that
/// does not pass through the gates.
template <class X>
struct GruGrads {
  X reset, update, fresh, hidden_part, before;

  EBB_HD static GruGrads of(const GruUnit<X>& u, X before, X hidden) {
    GruGrads s;
    s.fresh = hidden * (1 - u.update) * (1 - u.fresh * u.fresh);
    s.update = hidden * (before - u.fresh) * (u.update * (1 - u.update));
    s.hidden_part = s.fresh * u.reset;
    s.reset = s.fresh * u.hidden_part * (u.reset * (1 - u.reset));
    s.before = hidden * u.update;
    return s;
  }
};

/// Activations of plain RNN units. NaN propagates, as in relu.
struct TanhUnit {
  template <class X>
  EBB_HD static X value(X x) {
    return tanh(x);
  }
  template <class X>
  EBB_HD static X gradient(X y, X grad) {
    return grad * (1 - y * y);
  }
};
struct ReluUnit {
  template <class X>
  EBB_HD static X value(X x) {
    return where(x < 0, constant<X>(0), x);
  }
  template <class X>
  EBB_HD static X gradient(X y, X grad) {
    return where(y <= 0, constant<X>(0), grad);
  }
};

}  // namespace ebb::ops
