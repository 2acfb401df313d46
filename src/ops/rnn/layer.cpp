// One recurrent layer in one direction: its checks and its node. For double backward, the layer is composed
// of differentiable ops, step by step.
#include "ops/rnn/layer.h"

#include <ebb/autograd/backward.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/linalg/products.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>

#include "ops/common/arrays.h"
#include "ops/common/checks.h"
#include "ops/common/float_product.h"
#include "ops/common/layout.h"
#include "ops/common/record.h"

namespace ebb::ops {
namespace {

/// Returns the dtype of the computation: Float for 16-bit inputs on the CPU, otherwise the dtype of x.
DType compute_dtype(const Variable& x) {
  return x.device().is_cpu() && x.dtype() != kDouble ? kFloat : x.dtype();
}

RnnState state_of(const RnnInputs& in, DType dtype) {
  return {contiguous_array(in[RnnInputs::kHidden], {dtype}), contiguous_array(in[RnnInputs::kCell], {dtype})};
}

/// Returns the dtype of the factors of matrix products: BFloat16 for BFloat16, otherwise compute_dtype(x).
DType factor_of(const Variable& x) { return x.dtype() == kBFloat16 ? kBFloat16 : compute_dtype(x); }

RnnWeights weights_of(const RnnInputs& in, DType dtype) {
  const DType factor = factor_of(in[RnnInputs::kHiddenWeight]);
  return {contiguous_array(in[RnnInputs::kHiddenWeight], {factor}),
          contiguous_array(in[RnnInputs::kInputBias], {dtype}),
          contiguous_array(in[RnnInputs::kHiddenBias], {dtype}),
          contiguous_array(in[RnnInputs::kProjection], {factor})};
}

struct RnnLayerBackward final : autograd::Node {
  SavedVariables inputs{this};
  autograd::SavedVariable result{this};
  NdArray gates, extras;
  RnnSteps steps;

  std::string name() const override { return "RnnLayerBackward0"; }
  void release_variables() override {
    Node::release_variables();
    gates = extras = NdArray();
  }
  autograd::GradList apply(autograd::GradList&& grads) override {
    RnnInputs in;
    const variable_list saved = inputs.unpack();
    std::copy(saved.begin(), saved.end(), in.values);
    grads.resize(3);
    return GradMode::is_enabled() ? by_ops(in, grads) : by_kernels(in, grads);
  }

 private:
  autograd::GradList by_kernels(const RnnInputs& in, const autograd::GradList& grads) const {
    const DType dtype = gates.dtype();
    const Variable rows = result.unpack();
    const RnnTrace trace{gates, extras, contiguous_array(rows, {dtype}), {}};
    const RnnState first = state_of(in, dtype);
    RnnGateGrads gate_grads;
    gate_grads.input = empty_array_like(gates);
    gate_grads.hidden = steps.kind == RnnKind::gru ? empty_array_like(gates) : gate_grads.input;
    gate_grads.previous = empty_array_like(trace.result);
    if (in[RnnInputs::kProjection].defined()) gate_grads.projected = empty_array_like(trace.result);
    gate_grads.first = {empty_array_like(first.hidden), empty_array_like(first.cell)};
    kernels::rnn_backward(gates.device(), gate_grads, contiguous_array(grads[0], {dtype}),
                          {contiguous_array(grads[1], {dtype}), contiguous_array(grads[2], {dtype})}, trace,
                          first, weights_of(in, dtype), steps);
    return of_weights(in, gate_grads);
  }

  /// Returns the gradients of the inputs, given the gradients of the gates. Each weight needs one product
  /// over all steps.
  autograd::GradList of_weights(const RnnInputs& in, const RnnGateGrads& gate_grads) const {
    const DType factor = factor_of(in[RnnInputs::kRows]);
    const auto as_factor = [&](const Variable& x) { return Variable(contiguous_array(x, {factor})); };
    const bool one = gate_grads.input.address() == gate_grads.hidden.address();
    const Variable sum_of(gate_grads.input), input = as_factor(sum_of);
    const Variable hidden = one ? input : as_factor(Variable(gate_grads.hidden));
    autograd::GradList out(RnnInputs::kCount);
    if (needs(RnnInputs::kRows)) out[RnnInputs::kRows] = mm(input, as_factor(in[RnnInputs::kInputWeight]));
    if (needs(RnnInputs::kHidden)) out[RnnInputs::kHidden] = Variable(gate_grads.first.hidden);
    if (needs(RnnInputs::kCell)) out[RnnInputs::kCell] = Variable(gate_grads.first.cell);
    if (needs(RnnInputs::kInputWeight))
      out[RnnInputs::kInputWeight] = mm(input.t(), as_factor(in[RnnInputs::kRows]));
    if (needs(RnnInputs::kHiddenWeight))
      out[RnnInputs::kHiddenWeight] = mm(hidden.t(), as_factor(Variable(gate_grads.previous)));
    if (needs(RnnInputs::kInputBias)) out[RnnInputs::kInputBias] = sum_of.sum(0);
    if (needs(RnnInputs::kHiddenBias)) {
      const Variable same = steps.kind == RnnKind::gru ? Variable() : out[RnnInputs::kInputBias];
      out[RnnInputs::kHiddenBias] = same.defined() ? same.clone() : Variable(gate_grads.hidden).sum(0);
    }
    if (needs(RnnInputs::kProjection)) {
      const Variable outputs = Variable(gates).chunk(4, 1)[3] * Variable(extras).chunk(2, 1)[1];
      out[RnnInputs::kProjection] = mm(as_factor(Variable(gate_grads.projected)).t(), as_factor(outputs));
    }
    return out;
  }

  /// Returns the gradients of the inputs if gradients are recorded. Computes the layer again with
  /// differentiable ops and differentiates these.
  autograd::GradList by_ops(const RnnInputs& in, const autograd::GradList& grads) const {
    const auto run = [&](const variable_list& placeholders) {
      RnnInputs again;
      std::copy(placeholders.begin(), placeholders.end(), again.values);
      RnnResult out = composed_rnn_direction(again, steps);
      return variable_list{std::move(out.rows), std::move(out.hidden), std::move(out.cell)};
    };
    return gradients_by(run, *this, variable_list(in.values, in.values + RnnInputs::kCount), grads);
  }
};

void check_shape(const char* op, const char* what, const Variable& x, IntArrayRef sizes) {
  EBB_CHECK(x.sizes() == sizes, op, ": expected ", what, " of shape ", sizes, ", got ", x.sizes(), ".");
}

}  // namespace

void check_rnn_inputs(const char* op, const RnnInputs& in, const RnnSteps& steps) {
  using I = RnnInputs;
  const Variable& rows = in[I::kRows];
  for (const std::size_t i : {I::kRows, I::kHidden, I::kInputWeight, I::kHiddenWeight})
    check_defined(op, in[i]);
  for (const Variable& x : in.values) {
    common_device(op, rows, x);
    if (x.defined()) check_same_dtype(op, rows, x);
  }
  EBB_CHECK(is_floating(rows.dtype()), op, ": expected inputs of a floating-point dtype, got ", rows.dtype(),
            ". Convert them with .to(dtype).");
  EBB_CHECK(rows.dim() == 2, op, ": expected rows (N, features), got shape ", rows.sizes(), ".");
  EBB_CHECK(in[I::kInputBias].defined() == in[I::kHiddenBias].defined(), op,
            ": expected both biases or none. Give b_ih and b_hh.");
  const std::int64_t gates = steps.gates(), batch = steps.batch();
  EBB_CHECK(in[I::kHiddenWeight].dim() == 2, op, ": expected w_hh of two dimensions, got shape ",
            in[I::kHiddenWeight].sizes(), ".");
  const std::int64_t width = in[I::kHiddenWeight].size(0), projected = in[I::kHiddenWeight].size(1),
                     hidden = width / gates;
  EBB_CHECK(width % gates == 0 && (in[I::kProjection].defined() || projected == hidden), op,
            ": expected w_hh of shape (", gates, " * hidden, hidden), got ", in[I::kHiddenWeight].sizes(),
            ".");
  check_shape(op, "w_ih", in[I::kInputWeight], {width, rows.size(1)});
  check_shape(op, "a hidden state", in[I::kHidden], {batch, projected});
  if (in[I::kInputBias].defined()) {
    check_shape(op, "b_ih", in[I::kInputBias], {width});
    check_shape(op, "b_hh", in[I::kHiddenBias], {width});
  }
  if (in[I::kProjection].defined()) check_shape(op, "w_hr", in[I::kProjection], {projected, hidden});
  if (steps.kind != RnnKind::lstm) return;
  EBB_CHECK(in[I::kCell].defined(), op, ": expected hx to be h and c; c is undefined.");
  check_shape(op, "a cell state", in[I::kCell], {batch, hidden});
}

autograd::GradList gradients_by(const std::function<variable_list(const variable_list&)>& run,
                                const autograd::Node& node, variable_list inputs,
                                const autograd::GradList& grads) {
  const bool recorded = GradMode::is_enabled();
  const EnableGradGuard enable;
  variable_list wanted, outputs, seeds;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!node.needs(i)) continue;
    inputs[i] = inputs[i].view(inputs[i].sizes());
    wanted.push_back(inputs[i]);
    places.push_back(i);
  }
  const variable_list results = run(inputs);
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!grads[i].defined()) continue;
    outputs.push_back(results[i]);
    seeds.push_back(grads[i]);
  }
  const variable_list found = autograd::grad(outputs, wanted, seeds, recorded, recorded, true);
  autograd::GradList out(inputs.size());
  for (std::size_t i = 0; i < places.size(); ++i) out[places[i]] = found[i];
  return out;
}

RnnResult rnn_direction(const char* op, const RnnInputs& in, const RnnSteps& steps) {
  using I = RnnInputs;
  check_rnn_inputs(op, in, steps);
  const Variable& rows = in[I::kRows];
  const DType dtype = compute_dtype(rows);
  const Device device = rows.device();
  const std::int64_t count = rows.size(0), width = in[I::kHiddenWeight].size(0),
                     hidden = width / steps.gates();
  const RnnState first = state_of(in, dtype);
  RnnTrace trace;
  const auto fresh = [&](std::int64_t n, std::int64_t size) {
    return NdArray::empty({n, size}, dtype, device);
  };
  const DType factor = factor_of(rows);
  trace.gates = fresh(count, width);
  product_transposed(trace.gates, contiguous_array(rows, {factor}),
                     contiguous_array(in[I::kInputWeight], {factor}));
  if (steps.extras() > 0) trace.extras = fresh(count, steps.extras() * hidden);
  trace.result = fresh(count, in[I::kHiddenWeight].size(1));
  trace.last = {empty_array_like(first.hidden), empty_array_like(first.cell)};
  kernels::rnn_forward(device, trace, first, weights_of(in, dtype), steps);
  const auto as_given = [&](const NdArray& x) {
    return x.defined() ? Variable(cast_array(x, rows.dtype())) : Variable();
  };
  RnnResult out{as_given(trace.result), as_given(trace.last.hidden), as_given(trace.last.cell)};
  const auto node = record_results<RnnLayerBackward>({&out.rows, &out.hidden, &out.cell},
                                                     ArrayRef<Variable>(in.values, I::kCount));
  if (!node) return out;
  node->inputs.save(ArrayRef<Variable>(in.values, I::kCount));
  node->gates = trace.gates;
  node->extras = trace.extras;
  node->steps = steps;
  node->result.save_output(out.rows);
  return out;
}

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

/// Returns `all` with its first rows replaced by `fresh`.
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
