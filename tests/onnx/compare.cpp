// Compares a result with its reference.
#include <cmath>

#include "onnx/cases.h"

namespace onnx {
namespace {

struct Tolerance {
  double relative, absolute;
};

// ONNX's own runner asks for 1e-3 and 1e-7. Its expectations are computed by NumPy in the dtype of the test,
// so that more can be asked for; only the bodies of the window functions take pi for 3.14159.
Tolerance tolerance(ebb::DType dtype, const std::string& name) {
  if (name.find("window") != std::string::npos) return {1e-3, 1e-7};
  switch (dtype) {
    case ebb::kHalf:
      return {1e-3, 1e-7};
    case ebb::kBFloat16:
      return {8e-3, 1e-7};
    case ebb::kFloat:
      return {1e-5, 1e-7};
    case ebb::kDouble:
      return {1e-7, 1e-7};
    default:
      return {0, 0};
  }
}

bool close(double actual, double expected, Tolerance t) {
  if (std::isnan(expected)) return std::isnan(actual);
  if (std::isinf(expected)) return actual == expected;
  return std::fabs(actual - expected) <= t.absolute + t.relative * std::fabs(expected);
}

std::string difference(const Tensor& actual, const Tensor& expected, const std::string& name) {
  using ebb::detail::text;
  if (actual.sizes() != expected.sizes())
    return text("shape ", actual.sizes(), " instead of ", expected.sizes());
  if (actual.dtype() != expected.dtype())
    return text("dtype ", actual.dtype(), " instead of ", expected.dtype());
  const Tensor a = actual.detach().to(ebb::kDouble).contiguous(), e = expected.to(ebb::kDouble).contiguous();
  std::int64_t wrong = 0, first = -1;
  for (std::int64_t i = 0; i < e.numel(); ++i) {
    if (close(a.data_ptr<double>()[i], e.data_ptr<double>()[i], tolerance(expected.dtype(), name))) continue;
    if (first < 0) first = i;
    ++wrong;
  }
  if (wrong == 0) return "";
  return text(wrong, " of ", e.numel(), " elements differ; element ", first, " is ",
              a.data_ptr<double>()[first], " instead of ", e.data_ptr<double>()[first]);
}

}  // namespace

std::string difference(const Tensors& actual, const Case& test) {
  const Tensors& expected = test.outputs;
  if (actual.size() != expected.size())
    return ebb::detail::text(std::uint64_t{actual.size()}, " outputs instead of ",
                             std::uint64_t{expected.size()});
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const std::string what = difference(actual[i], expected[i], test.name);
    if (!what.empty()) return ebb::detail::text("output ", std::uint64_t{i}, ": ", what);
  }
  return "";
}

}  // namespace onnx
