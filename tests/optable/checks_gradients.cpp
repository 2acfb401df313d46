// Checks of derivatives: gradcheck, adjoint, subsets of inputs.
#include "optable/checks.h"
#include "optable/samples.h"
#include "support/catch.h"

#include <cmath>

namespace optable {
namespace {

bool any_differentiable(const variable_list& inputs) {
  for (const Variable& x : inputs)
    if (x.requires_grad() && x.numel() > 0) return true;
  return false;
}

// Returns distinct numbers in [-1, 1].
Variable direction(const Variable& like, double phase) {
  std::vector<double> values(static_cast<std::size_t>(like.numel()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::sin(1.7 * static_cast<double>(i) + phase);
  return ebb::tensor(values, ebb::kF64).view(like.sizes());
}

// Returns the sum of <a[i], b[i]> over the defined tensors.
double inner(const variable_list& a, const variable_list& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a[i].defined() && b[i].defined()) sum += (a[i].detach() * b[i].detach()).sum().item<double>();
  return sum;
}

}  // namespace

void check_derivatives(const Row& row) {
  if (row.derivative_order < 2) REQUIRE_FALSE(row.reason.empty());
  if (row.derivative_order == 0) return;
  for (std::size_t s = 0; s < row.shape_sets.size(); ++s) {
    INFO(row.name << ", sample " << s);
    const variable_list inputs = with_grad(row, make_inputs(row, s));
    if (!any_differentiable(inputs)) continue;
    ebb::GradcheckOptions options;
    std::int64_t elements = 0;
    for (const Variable& x : inputs) elements += x.numel();
    options.fast_mode = elements > 64;
    REQUIRE(ebb::gradcheck(differentiable_part(row), inputs, options));
    if (row.derivative_order >= 2) REQUIRE(ebb::gradgradcheck(differentiable_part(row), inputs, {}, options));
  }
}

// J u is the derivative of <J^T w, u> with respect to w: the derivative of backward is the forward
// derivative.
void check_adjoint(const Row& row) {
  if (row.derivative_order < 2) return;
  for (std::size_t s = 0; s < row.shape_sets.size(); ++s) {
    INFO(row.name << ", sample " << s);
    const variable_list inputs = with_grad(row, make_inputs(row, s)), leaves = leaves_of(inputs);
    if (!any_differentiable(leaves)) continue;
    variable_list outputs, weights, u, v;
    for (const Variable& y : differentiable_part(row)(inputs)) {
      if (!y.requires_grad()) continue;
      outputs.push_back(y);
      weights.push_back(ebb::ones_like(y).requires_grad_());
      v.push_back(direction(y, 0.4));
    }
    if (outputs.empty()) continue;
    for (std::size_t i = 0; i < leaves.size(); ++i) u.push_back(direction(leaves[i], static_cast<double>(i)));
    const variable_list back = ebb::autograd::grad(outputs, leaves, v, true, false, true);
    const variable_list general = ebb::autograd::grad(outputs, leaves, weights, true, true, true);
    Variable projected;
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      if (!general[i].defined() || !general[i].requires_grad()) continue;
      const Variable part = (general[i] * u[i]).sum();
      projected = projected.defined() ? projected + part : part;
    }
    const variable_list forward = projected.defined()
                                      ? ebb::autograd::grad({projected}, weights, {}, false, false, true)
                                      : variable_list(weights.size());
    const double there = inner(forward, v), back_again = inner(back, u);
    INFO("<v, J u> = " << there << ", <J^T v, u> = " << back_again);
    REQUIRE(std::abs(there - back_again) <= 1e-12 * (1 + std::abs(there)));
  }
}

void check_subsets(const Row& row) {
  if (row.derivative_order == 0) return;
  const variable_list all = with_grad(row, make_inputs(row, 0));
  std::vector<std::size_t> wanting;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].requires_grad()) wanting.push_back(i);
  if (wanting.empty() || wanting.size() > 4) return;
  const variable_list full = gradients(row, all, leaves_of(all));
  for (unsigned mask = 1; mask < 1u << wanting.size(); ++mask) {
    INFO(row.name << ", subset " << mask);
    variable_list inputs = all, wanted;
    for (std::size_t k = 0; k < wanting.size(); ++k) {
      Variable& x = inputs[wanting[k]];
      x = x.detach();
      if (mask >> k & 1) wanted.push_back(x.requires_grad_());
    }
    const variable_list grads = gradients(row, inputs, wanted);
    std::size_t next = 0;
    for (std::size_t k = 0; k < wanting.size(); ++k) {
      if (!(mask >> k & 1)) continue;
      const Variable& g = grads[next++];
      REQUIRE(g.defined() == full[k].defined());
      if (g.defined()) require_close(g, to_array(full[k]), 1e-12);
    }
  }
}

}  // namespace optable
