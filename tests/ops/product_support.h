// What the tests of linear algebra, convolution and pooling share.
#pragma once

#include <ebb/ebb.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "support/catch.h"

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

/// The same as a leaf for gradcheck.
inline Variable leaf(const Sizes& sizes, double phase = 0.3) {
  return ramp(sizes, phase).requires_grad_(true);
}

inline double value(const Variable& x, std::int64_t i) { return x.data_ptr<double>()[i]; }

/// Largest difference between x, converted to double, and the expected values in row-major order.
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

/// The greatest magnitude in x; NaN if there is one.
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

/// First and second derivatives.
template <class F>
void check_grads(F f, const std::vector<Variable>& inputs) {
  CHECK(ebb::gradcheck(f, inputs));
  CHECK(ebb::gradgradcheck(f, inputs));
}

/// The error's message holds all parts.
template <class F>
void check_error(F f, const std::vector<std::string>& parts) {
  try {
    f();
    FAIL("no error was thrown");
  } catch (const ebb::Error& e) {
    for (const std::string& part : parts) CHECK_THAT(e.what(), support::Contains(part));
  }
}

/// f() on 1 and on 2 threads.
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
