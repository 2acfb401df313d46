// The forward pass of recurrent layers on the CPU. Each thread computes all steps of a group of sequences. A
// step consists of one matrix product and one pass over the gates.
#include <ebb/core/visit.h>

#include "ops/rnn/cpu_pass.h"

namespace ebb::cpu {
namespace recurring {
namespace {

// The data of one sequence at one step. `hidden` is the previous hidden state. `unit` is the destination of
// the output, before any projection, and may be the same memory as `hidden`.
template <class T>
struct Row {
  T *gates, *extras;
  const T *product, *bias;
  const T* hidden;
  T *cell, *unit;
};

template <class T, RnnKind kKind>
void step(const Row<T>& row, std::int64_t size) {
  using X = Unit<T>;
  for_units<T>(size, [&](std::int64_t j, std::int64_t n) {
    const auto sum = [&](std::int64_t gate) {
      const std::int64_t at = gate * size + j;
      return load<T>(row.gates + at, n) + load<T>(row.product + at, n) + load<T>(row.bias + at, n);
    };
    const auto keep = [&](std::int64_t gate, X x) { store<T>(row.gates + gate * size + j, n, x); };
    if constexpr (kKind == RnnKind::lstm) {
      const auto u = ops::LstmUnit<X>::of(sum(0), sum(1), sum(2), sum(3), load<T>(row.cell + j, n));
      keep(0, u.input);
      keep(1, u.forget);
      keep(2, u.candidate);
      keep(3, u.output);
      store<T>(row.extras + j, n, u.cell);
      store<T>(row.extras + size + j, n, u.squashed);
      store<T>(row.cell + j, n, u.cell);
      store<T>(row.unit + j, n, u.hidden());
    } else if constexpr (kKind == RnnKind::gru) {
      const std::int64_t last = 2 * size + j;
      const X hidden_part = load<T>(row.product + last, n) + load<T>(row.bias + size + last, n);
      const auto u = ops::GruUnit<X>::of(
          sum(0), sum(1), load<T>(row.gates + last, n) + load<T>(row.bias + last, n), hidden_part);
      keep(0, u.reset);
      keep(1, u.update);
      keep(2, u.fresh);
      store<T>(row.extras + j, n, u.hidden_part);
      store<T>(row.unit + j, n, u.hidden(load<T>(row.hidden + j, n)));
    } else {
      using U = std::conditional_t<kKind == RnnKind::tanh, ops::TanhUnit, ops::ReluUnit>;
      const X y = U::value(sum(0));
      keep(0, y);
      store<T>(row.unit + j, n, y);
    }
  });
}

/// Returns input_bias + hidden_bias for each gate. For the new gate of a GRU, returns only input_bias; the
/// hidden_bias of this gate is at the end of the array.
template <class T>
std::vector<T> biases(const ops::RnnWeights& weights, const RnnSteps& steps, std::int64_t size) {
  const bool apart = steps.kind == RnnKind::gru;
  const auto count = static_cast<std::size_t>(steps.gates() * size),
             last = count - static_cast<std::size_t>(size);
  std::vector<T> sums(count + (apart ? static_cast<std::size_t>(size) : 0));
  if (!weights.input_bias.defined()) return sums;
  const T *const a = weights.input_bias.address_as<T>(), *const b = weights.hidden_bias.address_as<T>();
  for (std::size_t i = 0; i < count; ++i) {
    const bool own = apart && i >= last;
    sums[i] = own ? a[i] : a[i] + b[i];
    if (own) sums[i + static_cast<std::size_t>(size)] = b[i];
  }
  return sums;
}

template <class T, RnnKind kKind>
void forward(ops::RnnTrace& out, const ops::RnnState& first, const ops::RnnWeights& weights,
             const RnnSteps& steps) {
  const std::int64_t projected = out.result.sizes()[1], size = out.gates.sizes()[1] / steps.gates();
  const std::int64_t width = steps.gates() * size, extras = steps.extras() * size;
  const Right<T> recurrent(weights.hidden, true), projection(weights.projection, true);
  const std::vector<T> bias = biases<T>(weights, steps, size);
  const DimVector offsets = steps.offsets();
  const bool projects = weights.projection.defined(), cells = kKind == RnnKind::lstm;
  T* const kept_extras = data_or_null<T>(out.extras);
  for_sequences(steps, size, projected, [&](std::int64_t from, std::int64_t to) {
    const std::int64_t group = to - from;
    Rows<T> hidden(group, projected), sums(group, width), units(projects ? group : 0, size);
    std::vector<T> cell(static_cast<std::size_t>(cells ? group * size : 0));
    for (std::int64_t i = 0; i < group; ++i)
      std::copy_n(first.hidden.address_as<T>() + (from + i) * projected, projected, hidden.row(i));
    if (cells) std::copy_n(first.cell.address_as<T>() + from * size, group * size, cell.data());
    for (std::int64_t k = 0; k < steps.count(); ++k) {
      const std::int64_t t = steps.at(k), rows = std::min(steps.size(t) - from, group);
      if (rows <= 0) continue;
      recurrent.product(rows, hidden.row(0), hidden.pitch, sums.row(0), sums.pitch);
      const std::int64_t start = offsets[t] + from;
      for (std::int64_t i = 0; i < rows; ++i)
        step<T, kKind>({out.gates.address_as<T>() + (start + i) * width, kept_extras + (start + i) * extras,
                        sums.row(i), bias.data(), hidden.row(i), cell.data() + (cells ? i * size : 0),
                        projects ? units.row(i) : hidden.row(i)},
                       size);
      if (projects) projection.product(rows, units.row(0), units.pitch, hidden.row(0), hidden.pitch);
      for (std::int64_t i = 0; i < rows; ++i)
        std::copy_n(hidden.row(i), projected, out.result.address_as<T>() + (start + i) * projected);
    }
    for (std::int64_t i = 0; i < group; ++i)
      std::copy_n(hidden.row(i), projected, out.last.hidden.address_as<T>() + (from + i) * projected);
    if (cells) std::copy_n(cell.data(), group * size, out.last.cell.address_as<T>() + from * size);
  });
}

}  // namespace
}  // namespace recurring

void rnn_forward(ops::RnnTrace& out, const ops::RnnState& first, const ops::RnnWeights& weights,
                 const ops::RnnSteps& steps) {
  visit_float_double(out.gates.dtype(), "rnn", [&]<class T> {
    ops::visit_kind(steps.kind,
                    [&]<ops::RnnKind kKind>() { recurring::forward<T, kKind>(out, first, weights, steps); });
  });
}

}  // namespace ebb::cpu
