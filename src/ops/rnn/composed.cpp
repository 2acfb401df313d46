// A recurrent layer composed of differentiable ops, step by step.
#include <ebb/ops/elementwise.h>
#include <ebb/ops/linalg/products.h>
#include <ebb/ops/shape.h>

#include "ops/rnn/layer.h"

namespace ebb::ops {
namespace {

optional<Variable> if_defined(const Variable& x) { return x.defined() ? optional<Variable>(x) : nullopt; }

/// Returns the next state of the sequences of a step, given the products of its inputs.
RnnResult next(const RnnInputs& in, RnnKind kind, const Variable& products, const Variable& hidden,
               const Variable& cell) {
  const Variable sums = linear(hidden, in[RnnInputs::kHiddenWeight], if_defined(in[RnnInputs::kHiddenBias]));
  if (kind == RnnKind::gru) {
    const std::vector<Variable> x = products.chunk(3, 1), h = sums.chunk(3, 1);
    const Variable reset = sigmoid(x[0] + h[0]), update = sigmoid(x[1] + h[1]);
    const Variable fresh = tanh(x[2] + reset * h[2]);
    return {fresh + update * (hidden - fresh), Variable(), Variable()};
  }
  const Variable all = products + sums;
  if (kind == RnnKind::tanh) return {tanh(all), Variable(), Variable()};
  if (kind == RnnKind::relu) return {relu(all), Variable(), Variable()};
  const std::vector<Variable> gates = all.chunk(4, 1);
  const Variable c = sigmoid(gates[1]) * cell + sigmoid(gates[0]) * tanh(gates[2]);
  const Variable h = sigmoid(gates[3]) * tanh(c), projection = in[RnnInputs::kProjection];
  return {projection.defined() ? linear(h, projection) : h, Variable(), c};
}

/// Returns the states of all sequences, where the first ones are replaced by `fresh`.
Variable with_new(const Variable& fresh, const Variable& all) {
  const std::int64_t n = fresh.size(0), rest = all.size(0) - n;
  return rest == 0 ? fresh : cat({fresh, all.narrow(0, n, rest)});
}

}  // namespace

RnnResult composed_rnn_direction(const RnnInputs& in, const RnnSteps& steps) {
  const Variable products =
      linear(in[RnnInputs::kRows], in[RnnInputs::kInputWeight], if_defined(in[RnnInputs::kInputBias]));
  const DimVector offsets = steps.offsets();
  std::vector<Variable> rows(static_cast<std::size_t>(steps.count()));
  Variable hidden = in[RnnInputs::kHidden], cell = in[RnnInputs::kCell];
  for (std::int64_t i = 0; i < steps.count(); ++i) {
    const std::int64_t t = steps.at(i), n = steps.size(t);
    const RnnResult now = next(in, steps.kind, products.narrow(0, offsets[t], n), hidden.narrow(0, 0, n),
                               cell.defined() ? cell.narrow(0, 0, n) : cell);
    hidden = with_new(now.rows, hidden);
    if (cell.defined()) cell = with_new(now.cell, cell);
    rows[static_cast<std::size_t>(t)] = now.rows;
  }
  return {cat(rows), hidden, cell};
}

}  // namespace ebb::ops
