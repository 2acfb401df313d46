// The backward pass of recurrent layers on the CPU. It processes the steps in reverse, in groups of sequences
// like the forward pass. The gradients of the weights are computed afterwards, as products over all steps.
#include <ebb/core/visit.h>

#include "ops/rnn/cpu_pass.h"

namespace ebb::cpu {
namespace recurring {
namespace {

// The data of one sequence at one step. `unit_grad` is the gradient of the output, before any projection.
// step() replaces `cell`, the gradient of the cell, by the gradient of the previous cell.
template <class T>
struct Row {
  const T *gates, *extras, *hidden_before, *cell_before, *unit_grad;
  T *input, *hidden, *cell, *before;
};

template <class T, RnnKind kKind>
void step(const Row<T>& row, std::int64_t size) {
  using X = Unit<T>;
  for_units<T>(size, [&](std::int64_t j, std::int64_t n) {
    const auto gate = [&](std::int64_t k) { return load<T>(row.gates + k * size + j, n); };
    const auto keep = [&](T* to, std::int64_t k, X x) { store<T>(to + k * size + j, n, x); };
    const X unit_grad = load<T>(row.unit_grad + j, n);
    if constexpr (kKind == RnnKind::lstm) {
      const ops::LstmUnit<X> u{
          gate(0), gate(1), gate(2), gate(3), load<T>(row.extras + j, n), load<T>(row.extras + size + j, n)};
      const auto s =
          ops::LstmGrads<X>::of(u, load<T>(row.cell_before + j, n), unit_grad, load<T>(row.cell + j, n));
      keep(row.input, 0, s.input);
      keep(row.input, 1, s.forget);
      keep(row.input, 2, s.candidate);
      keep(row.input, 3, s.output);
      store<T>(row.cell + j, n, s.cell);
    } else if constexpr (kKind == RnnKind::gru) {
      const ops::GruUnit<X> u{gate(0), gate(1), gate(2), load<T>(row.extras + j, n)};
      const auto s = ops::GruGrads<X>::of(u, load<T>(row.hidden_before + j, n), unit_grad);
      keep(row.input, 0, s.reset);
      keep(row.input, 1, s.update);
      keep(row.input, 2, s.fresh);
      keep(row.hidden, 0, s.reset);
      keep(row.hidden, 1, s.update);
      keep(row.hidden, 2, s.hidden_part);
      store<T>(row.before + j, n, s.before);
    } else {
      using U = std::conditional_t<kKind == RnnKind::tanh, ops::TanhUnit, ops::ReluUnit>;
      keep(row.input, 0, U::gradient(gate(0), unit_grad));
    }
  });
}

/// Copies row `row` of an initial state, or fills with zeros if the state is undefined.
template <class T>
void start(const NdArray& state, std::int64_t row, std::int64_t width, T* to) {
  if (state.defined())
    std::copy_n(state.address_as<T>() + row * width, width, to);
  else
    std::fill_n(to, width, T(0));
}

template <class T, RnnKind kKind>
void backward(ops::RnnGateGrads& out, const NdArray& grad, const ops::RnnState& last,
              const ops::RnnTrace& trace, const ops::RnnState& first, const ops::RnnWeights& weights,
              const RnnSteps& steps) {
  const std::int64_t projected = trace.result.sizes()[1], size = trace.gates.sizes()[1] / steps.gates();
  const std::int64_t width = steps.gates() * size, extras = steps.extras() * size;
  const Right<T> recurrent(weights.hidden, false), projection(weights.projection, false);
  const DimVector offsets = steps.offsets();
  const auto offset = [&](std::int64_t t) { return offsets[t]; };
  const bool projects = weights.projection.defined();
  constexpr bool kCells = kKind == RnnKind::lstm, kMore = kKind == RnnKind::gru;
  const T* const kept_extras = data_or_null<const T>(trace.extras);
  for_sequences(steps, size, projected, [&](std::int64_t from, std::int64_t to) {
    const std::int64_t group = to - from;
    Rows<T> unit_grad(group, projected), units(projects ? group : 0, size);
    std::vector<T> cell(static_cast<std::size_t>(kCells ? group * size : 0));
    for (std::int64_t i = 0; i < group; ++i) {
      start<T>(last.hidden, from + i, projected, unit_grad.row(i));
      if (kCells) start<T>(last.cell, from + i, size, cell.data() + i * size);
    }
    for (std::int64_t k = steps.count() - 1; k >= 0; --k) {
      const std::int64_t t = steps.at(k), before = steps.before(t);
      const std::int64_t rows = std::min(steps.size(t) - from, group), at = offset(t) + from;
      if (rows <= 0) continue;
      const std::int64_t continued = before < 0 ? 0 : std::min(steps.size(before) - from, rows);
      if (grad.defined())
        for (std::int64_t i = 0; i < rows; ++i)
          for (std::int64_t j = 0; j < projected; ++j)
            unit_grad.row(i)[j] += grad.address_as<T>()[(at + i) * projected + j];
      if (projects) {
        for (std::int64_t i = 0; i < rows; ++i)
          std::copy_n(unit_grad.row(i), projected, out.projected.address_as<T>() + (at + i) * projected);
        projection.product(rows, unit_grad.row(0), unit_grad.pitch, units.row(0), units.pitch);
      }
      for (std::int64_t i = 0; i < rows; ++i) {
        const bool goes_on = i < continued;
        const T* const hidden_before =
            goes_on ? trace.result.address_as<T>() + (offset(before) + from + i) * projected
                    : first.hidden.address_as<T>() + (from + i) * projected;
        const T* cell_before = nullptr;
        if (kCells)
          cell_before = goes_on ? kept_extras + (offset(before) + from + i) * extras
                                : first.cell.address_as<T>() + (from + i) * size;
        std::copy_n(hidden_before, projected, out.previous.address_as<T>() + (at + i) * projected);
        step<T, kKind>(
            {trace.gates.address_as<T>() + (at + i) * width,
             kMore || kCells ? kept_extras + (at + i) * extras : nullptr, hidden_before, cell_before,
             projects ? units.row(i) : unit_grad.row(i), out.input.address_as<T>() + (at + i) * width,
             out.hidden.address_as<T>() + (at + i) * width, cell.data() + (kCells ? i * size : 0),
             unit_grad.row(i)},
            size);
      }
      recurrent.product(rows, out.hidden.address_as<T>() + at * width, width, unit_grad.row(0),
                        unit_grad.pitch, kMore);
    }
    for (std::int64_t i = 0; i < group; ++i)
      std::copy_n(unit_grad.row(i), projected, out.first.hidden.address_as<T>() + (from + i) * projected);
    if (kCells) std::copy_n(cell.data(), group * size, out.first.cell.address_as<T>() + from * size);
  });
}

}  // namespace
}  // namespace recurring

void rnn_backward(ops::RnnGateGrads& out, const NdArray& grad, const ops::RnnState& last,
                  const ops::RnnTrace& trace, const ops::RnnState& first, const ops::RnnWeights& weights,
                  const ops::RnnSteps& steps) {
  visit_float_double(out.input.dtype(), "rnn_backward", [&]<class T> {
    ops::visit_kind(steps.kind, [&]<ops::RnnKind kKind>() {
      recurring::backward<T, kKind>(out, grad, last, trace, first, weights, steps);
    });
  });
}

}  // namespace ebb::cpu
