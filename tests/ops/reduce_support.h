// Naive reductions in double, to compare with.
#pragma once

#include <ebb/ebb.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <vector>

#include "support/catch.h"

namespace reduce_test {

using ebb::Variable;
using Line = std::vector<double>;
constexpr double kInf = INFINITY, kNan = NAN;

/// The elements in row-major order, whatever the strides and the dtype.
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

/// f of every line that runs over `dims`, in row-major order of the other dimensions.
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

/// The gradient of sum(f(x) * weights), weights distinct.
template <class F>
Variable gradient(F f, const Variable& x) {
  const Variable leaf = x.detach().clone().requires_grad_(true);
  const Variable y = f(leaf);
  return ebb::autograd::grad({y}, {leaf}, {ebb::ones_like(y.detach())})[0];
}

inline std::string name_of(const Variable& x) { return x.grad_fn()->name(); }

/// First and second derivative against central differences.
template <class F>
void check_derivatives(F f, const Variable& x) {
  const Variable leaf = x.detach().clone().requires_grad_(true);
  CHECK(ebb::gradcheck([&](const Variable& t) { return f(t); }, {leaf}));
  CHECK(ebb::gradgradcheck([&](const Variable& t) { return f(t); }, {leaf}));
}

}  // namespace reduce_test
