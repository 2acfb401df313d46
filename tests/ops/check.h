// What the tests of ops share.
#pragma once

#include <ebb/derivatives/gradcheck.h>
#include <ebb/ebb.h>

#include <cmath>
#include <string>
#include <vector>

#include "support/catch.h"

namespace op_tests {

using ebb::Variable;
using Values = std::vector<double>;
using Shape = std::vector<std::int64_t>;

/// Distinct values in a fixed order, as kDouble.
inline Variable ramp(const Shape& sizes, double phase = 0.3) {
  Variable x(ebb::NdArray::empty(sizes, ebb::kDouble));
  for (std::int64_t i = 0; i < x.numel(); ++i)
    x.data_ptr<double>()[i] = std::sin(1.7 * static_cast<double>(i) + phase) + 0.01 * static_cast<double>(i);
  return x;
}

/// 0, 1, 2, ... in that shape, as kDouble.
inline Variable count(const Shape& sizes) {
  Variable x(ebb::NdArray::empty(sizes, ebb::kDouble));
  for (std::int64_t i = 0; i < x.numel(); ++i) x.data_ptr<double>()[i] = static_cast<double>(i);
  return x;
}

inline Variable longs(const std::vector<std::int64_t>& values, const Shape& sizes) {
  Variable x(ebb::NdArray::empty(sizes, ebb::kLong));
  std::copy(values.begin(), values.end(), x.data_ptr<std::int64_t>());
  return x;
}
inline Variable longs(const std::vector<std::int64_t>& values) {
  return longs(values, {static_cast<std::int64_t>(values.size())});
}

inline Variable bools(const std::vector<int>& values, const Shape& sizes) {
  Variable x(ebb::NdArray::empty(sizes, ebb::kBool));
  for (std::size_t i = 0; i < values.size(); ++i) x.data_ptr<bool>()[i] = values[i] != 0;
  return x;
}

inline Values values(const Variable& x) {
  const Variable flat = ebb::clone(ebb::to(x.detach(), ebb::kDouble), ebb::MemoryFormat::Contiguous);
  return Values(flat.data_ptr<double>(), flat.data_ptr<double>() + flat.numel());
}

inline Shape shape(const Variable& x) { return x.sizes().vec(); }

inline std::string node_name(const Variable& x) { return x.grad_fn() ? x.grad_fn()->name() : ""; }

/// First and second derivatives against differences.
template <class F>
void check_gradients(F f, std::vector<Variable> inputs) {
  for (Variable& x : inputs) x = x.detach().clone().set_requires_grad(true);
  CHECK(ebb::gradcheck(f, inputs));
  CHECK(ebb::gradgradcheck(f, inputs));
}

}  // namespace op_tests
