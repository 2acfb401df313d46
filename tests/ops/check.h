// Helpers that the tests of ops share: inputs, references by plain loops, and comparisons.
#pragma once

#include <ebb/derivatives/gradcheck.h>
#include <ebb/ebb.h>

#include "support/catch.h"

#include <cmath>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

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

/// The values 0, 1, 2, ... in the given shape, as kDouble.
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

/// Checks first and second derivatives against finite differences.
template <class F>
void check_gradients(F f, std::vector<Variable> inputs) {
  for (Variable& x : inputs) x = x.detach().clone().set_requires_grad(true);
  CHECK(ebb::gradcheck(f, inputs));
  CHECK(ebb::gradgradcheck(f, inputs));
}

// Compares methods with the functions of the same name.

inline void same(const char* name, const Variable& a, const Variable& b) {
  INFO(name);
  REQUIRE(a.sizes() == b.sizes());
  REQUIRE(a.dtype() == b.dtype());
  CHECK(ebb::allclose(a.to(ebb::kDouble), b.to(ebb::kDouble), 0, 0, /*equal_nan=*/true));
  CHECK(node_name(a) == node_name(b));
}
inline void same(const char* name, const std::vector<Variable>& a, const std::vector<Variable>& b) {
  INFO(name);
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) same(name, a[i], b[i]);
}
template <class... T>
void same(const char* name, const std::tuple<T...>& a, const std::tuple<T...>& b) {
  const auto list = [](const auto&... each) { return std::vector<Variable>{each...}; };
  same(name, std::apply(list, a), std::apply(list, b));
}

/// `changed` is the result of the in-place call, and `self` the tensor on which it was called.
inline void in_place(const char* name, const Variable& self, const Variable& changed,
                     const Variable& expected) {
  INFO(name);
  CHECK(changed.is_same(self));
  same(name, self.detach(), expected.detach().to(self.dtype()));
}

}  // namespace op_tests

/// Checks that x.name(...) equals ebb::name(x, ...).
#define METHOD(x, name, ...) \
  op_tests::same(#name, (x).name(__VA_ARGS__), ebb::name((x)__VA_OPT__(, ) __VA_ARGS__))

/// Checks that both in-place forms of name_ write the result of ebb::name(x, ...) to a copy of x.
#define IN_PLACE(x, name, ...)                                                                    \
  do {                                                                                            \
    const Variable expected = ebb::name((x)__VA_OPT__(, ) __VA_ARGS__);                           \
    Variable self = (x).detach().clone();                                                         \
    op_tests::in_place("method " #name "_", self, self.name##_(__VA_ARGS__), expected);           \
    self = (x).detach().clone();                                                                  \
    op_tests::in_place(#name "_", self, ebb::name##_(self __VA_OPT__(, ) __VA_ARGS__), expected); \
  } while (false)

#define BOTH(x, name, ...)                    \
  METHOD(x, name __VA_OPT__(, ) __VA_ARGS__); \
  IN_PLACE(x, name __VA_OPT__(, ) __VA_ARGS__)

// Helpers that the tests of linear algebra, convolution and pooling share.

namespace product_test {

using ebb::Variable;
using Sizes = std::vector<std::int64_t>;

/// Distinct doubles in [-1, 1].
inline Variable ramp(const Sizes& sizes, double phase = 0.3) {
  Variable x = ebb::empty(sizes, ebb::kDouble);
  double* data = x.data_ptr<double>();
  for (std::int64_t i = 0; i < x.numel(); ++i) data[i] = std::sin(1.7 * static_cast<double>(i) + phase);
  return x;
}

/// Returns the same values as a leaf for gradcheck.
inline Variable leaf(const Sizes& sizes, double phase = 0.3) {
  return ramp(sizes, phase).requires_grad_(true);
}

inline double value(const Variable& x, std::int64_t i) { return x.data_ptr<double>()[i]; }

/// Returns the largest difference between x, converted to double, and the expected values in row-major order.
inline double error(const Variable& x, const std::vector<double>& expected) {
  const Variable flat = x.detach().to(ebb::kDouble).contiguous();
  REQUIRE(flat.numel() == static_cast<std::int64_t>(expected.size()));
  double worst = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double d = std::abs(flat.data_ptr<double>()[i] - expected[i]);
    worst = d > worst || d != d ? d : worst;
  }
  return worst;
}

/// Returns the largest magnitude in x, or NaN if x contains one.
inline double top(const Variable& x) {
  const Variable flat = x.detach().to(ebb::kDouble).contiguous();
  double worst = 0;
  for (std::int64_t i = 0; i < flat.numel(); ++i) {
    const double v = std::abs(flat.data_ptr<double>()[i]);
    worst = v > worst || v != v ? v : worst;
  }
  return worst;
}
inline bool finite(const Variable& x) { return std::isfinite(top(x)); }

inline bool same_bits(const Variable& a, const Variable& b) {
  return a.sizes() == b.sizes() && a.dtype() == b.dtype() &&
         std::memcmp(a.contiguous().data_ptr(), b.contiguous().data_ptr(), a.nbytes()) == 0;
}

/// Checks first and second derivatives.
template <class F>
void check_grads(F f, const std::vector<Variable>& inputs) {
  CHECK(ebb::gradcheck(f, inputs));
  CHECK(ebb::gradgradcheck(f, inputs));
}

/// Checks that f throws an error whose message contains all parts.
template <class F>
void check_error(F f, const std::vector<std::string>& parts) {
  try {
    f();
    FAIL("no error was thrown");
  } catch (const ebb::Error& e) {
    for (const std::string& part : parts) CHECK_THAT(e.what(), support::Contains(part));
  }
}

/// Checks that f() has equal results with 1 and with 2 threads.
template <class F>
void check_threads(F f) {
  const int before = ebb::get_num_threads();
  ebb::set_num_threads(1);
  const Variable one = f();
  ebb::set_num_threads(2);
  const Variable two = f();
  ebb::set_num_threads(before);
  CHECK(same_bits(one, two));
}

}  // namespace product_test

// Naive reductions in double, as a reference.

namespace reduce_test {

using ebb::Variable;
using Line = std::vector<double>;
constexpr double kInf = INFINITY, kNan = NAN;

/// Returns the elements in row-major order for any strides and dtype.
inline std::vector<double> elements(const Variable& x) {
  const Variable flat = x.detach().to(ebb::kDouble).contiguous();
  const double* data = flat.data_ptr<double>();
  return std::vector<double>(data, data + flat.numel());
}

/// Distinct values in (low, high).
inline Variable ramp(ebb::IntArrayRef sizes, double low = -1, double high = 1, double phase = 0.3) {
  Variable x = ebb::zeros(sizes, ebb::kDouble);
  double* data = x.data_ptr<double>();
  for (std::int64_t i = 0; i < x.numel(); ++i)
    data[i] = (low + high) / 2 + (high - low) / 2 * std::sin(1.7 * static_cast<double>(i) + phase);
  return x;
}

/// Applies f to each line along `dims`, in row-major order of the other dimensions.
inline std::vector<double> naive(const Variable& x, const std::vector<std::int64_t>& dims,
                                 const std::function<double(const Line&)>& f) {
  const auto sizes = x.sizes().vec();
  std::vector<bool> reduced(sizes.size(), dims.empty());
  for (std::int64_t d : dims) reduced[static_cast<std::size_t>(d < 0 ? d + x.dim() : d)] = true;
  std::int64_t outputs = 1;
  for (std::size_t d = 0; d < sizes.size(); ++d)
    if (!reduced[d]) outputs *= sizes[d];
  std::vector<Line> lines(static_cast<std::size_t>(outputs));
  const std::vector<double> values = elements(x);
  for (std::size_t e = 0; e < values.size(); ++e) {
    std::int64_t rest = static_cast<std::int64_t>(e), at = 0, scale = 1;
    for (std::size_t d = sizes.size(); d-- > 0; rest /= sizes[d])
      if (!reduced[d]) {
        at += rest % sizes[d] * scale;
        scale *= sizes[d];
      }
    lines[static_cast<std::size_t>(at)].push_back(values[e]);
  }
  std::vector<double> out;
  for (const Line& line : lines) out.push_back(f(line));
  return out;
}

inline void check_close(const Variable& got, const std::vector<double>& want, double tolerance) {
  const std::vector<double> have = elements(got);
  REQUIRE(have.size() == want.size());
  for (std::size_t i = 0; i < want.size(); ++i) {
    if (std::isnan(want[i])) {
      CHECK(std::isnan(have[i]));
    } else if (std::isinf(want[i])) {
      CHECK(have[i] == want[i]);
    } else {
      INFO("element " << i << ": " << have[i] << " for " << want[i]);
      CHECK(std::abs(have[i] - want[i]) <= tolerance * (1 + std::abs(want[i])));
    }
  }
}

inline bool same_bits(const Variable& a, const Variable& b) {
  const Variable x = a.contiguous(), y = b.contiguous();
  return x.sizes() == y.sizes() && x.dtype() == y.dtype() &&
         std::memcmp(x.data_ptr(), y.data_ptr(), x.nbytes()) == 0;
}

/// Returns the gradient of sum(f(x) * weights) with distinct weights.
template <class F>
Variable gradient(F f, const Variable& x) {
  const Variable leaf = x.detach().clone().requires_grad_(true);
  const Variable y = f(leaf);
  return ebb::autograd::grad({y}, {leaf}, {ebb::ones_like(y.detach())})[0];
}

inline std::string name_of(const Variable& x) { return x.grad_fn()->name(); }

/// Checks first and second derivatives against central differences.
template <class F>
void check_derivatives(F f, const Variable& x) {
  const Variable leaf = x.detach().clone().requires_grad_(true);
  CHECK(ebb::gradcheck([&](const Variable& t) { return f(t); }, {leaf}));
  CHECK(ebb::gradgradcheck([&](const Variable& t) { return f(t); }, {leaf}));
}

}  // namespace reduce_test
