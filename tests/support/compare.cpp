// Comparisons of tensors with numbers and with each other.
#include "support/compare.h"

#include <ebb/ops/creation.h>
#include <ebb/ops/creation/tensor_data.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/shape.h>

#include "support/catch.h"

#include <cmath>

namespace support {

using ebb::Variable;

std::vector<double> numbers(const Variable& x) {
  const Variable flat = x.detach().to(ebb::kCPU, ebb::kDouble).contiguous();
  const double* const first = flat.data_ptr<double>();
  return {first, first + flat.numel()};
}

std::string bytes_of(const Variable& x) {
  const Variable flat = x.detach().to(ebb::kCPU).contiguous();
  return {static_cast<const char*>(flat.data_ptr()), flat.nbytes()};
}

void require_close(const std::vector<double>& x, const std::vector<double>& expected, double relative,
                   double absolute) {
  REQUIRE(x.size() == expected.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (x[i] == expected[i] || (std::isnan(x[i]) && std::isnan(expected[i]))) continue;
    if (std::abs(x[i] - expected[i]) <= relative * std::abs(expected[i]) + absolute) continue;
    FAIL_CHECK("element " << i << ": got " << x[i] << ", expected " << expected[i]);
  }
}

void require_close(const Variable& x, const std::vector<double>& expected, double relative, double absolute) {
  require_close(numbers(x), expected, relative, absolute);
}

void require_close(const Variable& x, const Variable& expected, double relative, double absolute) {
  REQUIRE(x.sizes() == expected.sizes());
  require_close(numbers(x), numbers(expected), relative, absolute);
}

bool same(const Variable& a, const Variable& b) {
  if (!a.defined() || !b.defined()) return a.defined() == b.defined();
  if (a.sizes() != b.sizes() || a.dtype() != b.dtype()) return false;
  if (!ebb::is_floating(a.dtype())) return bytes_of(a) == bytes_of(b);
  const std::vector<double> x = numbers(a), y = numbers(b);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const bool equal =
        std::isnan(x[i]) ? std::isnan(y[i]) : x[i] == y[i] && std::signbit(x[i]) == std::signbit(y[i]);
    if (!equal) return false;
  }
  return true;
}

void require_same(const std::vector<Variable>& got, const std::vector<Variable>& expected) {
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    INFO("tensor " << i << ": got\n" << got[i] << "\nexpected\n" << expected[i]);
    CHECK(same(got[i], expected[i]));
  }
}

}  // namespace support
