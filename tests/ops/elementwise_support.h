// What the tests of elementwise ops share: inputs, references in double, layouts.
#pragma once

#include <ebb/autograd/gradcheck.h>
#include <ebb/ebb.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

namespace elementwise {

using ebb::Tensor;

// Distinct values between low and high.
inline Tensor ramp(std::vector<std::int64_t> sizes, double low, double high, double phase = 0.3) {
  Tensor x = ebb::empty(sizes, ebb::kDouble);
  double* p = x.data_ptr<double>();
  for (std::int64_t i = 0; i < x.numel(); ++i)
    p[i] = (low + high) / 2 + (high - low) / 2 * std::sin(1.7 * static_cast<double>(i) + phase);
  return x;
}

inline std::vector<double> values(const Tensor& x) {
  const Tensor flat = x.detach().to(ebb::kDouble).contiguous();
  return {flat.data_ptr<double>(), flat.data_ptr<double>() + flat.numel()};
}

inline bool same_bits(const Tensor& a, const Tensor& b) {
  const Tensor x = a.detach().contiguous(), y = b.detach().contiguous();
  return x.dtype() == y.dtype() && x.sizes() == y.sizes() &&
         !std::memcmp(x.data_ptr(), y.data_ptr(), x.nbytes());
}

// The same values laid out otherwise: transposed, with gaps, at an offset, reversed dimensions.
inline std::vector<Tensor> layouts(const Tensor& x) {
  const std::int64_t rows = x.size(0), columns = x.size(1);
  std::vector<Tensor> all;
  Tensor turned = ebb::empty({columns, rows}, x.options()).t();
  turned.copy_(x);
  all.push_back(turned);
  Tensor gaps =
      ebb::zeros({rows, 2 * columns + 3}, x.options()).as_strided({rows, columns}, {2 * columns + 3, 2}, 1);
  gaps.copy_(x);
  all.push_back(gaps);
  return all;
}

inline Tensor leaf(const Tensor& x) { return x.detach().clone().requires_grad_(); }

inline double near(double want, double tolerance = 1e-12) { return tolerance * (1 + std::fabs(want)); }

}  // namespace elementwise
