// rrelu: leaky ReLU with random slopes.
#include <ebb/autograd/grad_mode.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/index.h>
#include <ebb/ops/random.h>
#include <ebb/ops/shape.h>

#include "ops/random/inplace.h"

#include <cmath>

namespace ebb {
namespace {

void check_bounds(const Variable& x, const Scalar& lower, const Scalar& upper) {
  EBB_CHECK(is_floating(x.dtype()), "rrelu: expected a floating-point tensor, got ", x.dtype(),
            ". Convert it with .to(ebb::kFloat).");
  EBB_CHECK(std::isfinite(lower.to_double()) && std::isfinite(upper.to_double()),
            "rrelu: lower and upper must be finite, got ", lower, " and ", upper, ".");
  EBB_CHECK(lower.to_double() <= upper.to_double(), "rrelu: lower must not exceed upper, got ", lower,
            " and ", upper, ".");
}

Scalar mean_slope(const Scalar& lower, const Scalar& upper) {
  return (lower.to_double() + upper.to_double()) / 2;
}

}  // namespace

Variable ops::rrelu_slopes(const Variable& x, const Scalar& lower, const Scalar& upper,
                           const optional<Generator>& generator) {
  NoGradGuard no_grad;
  const DType dtype = x.dtype() == kDouble ? kDouble : kFloat;
  const auto bound = [&](const Scalar& s) {
    return dtype == kDouble ? s.to_double() : static_cast<float>(s.to_double());
  };
  const double low = bound(lower), width = bound(upper) - low;
  const Variable negative = (x.flatten() <= 0).nonzero().squeeze(1);
  const Variable draws =
      empty({negative.numel()}, TensorOptions(kDouble)).uniform_(0, 1, generator).mul_(width).add_(low);
  const TensorOptions options = x.options().dtype(dtype);
  return ones({x.numel()}, options).index_copy_(0, negative, draws.to(options)).view(x.sizes());
}

Variable rrelu(const Variable& self, const Scalar& lower, const Scalar& upper, bool training,
               const optional<Generator>& generator) {
  check_bounds(self, lower, upper);
  if (!training) return leaky_relu(self, mean_slope(lower, upper));
  return mul(self, ops::rrelu_slopes(self.detach(), lower, upper, generator)).to(self.dtype());
}

Variable& rrelu_(const Variable& self, const Scalar& lower, const Scalar& upper, bool training,
                 const optional<Generator>& generator) {
  check_bounds(self, lower, upper);
  if (!training) return leaky_relu_(self, mean_slope(lower, upper));
  return mul_(self, ops::rrelu_slopes(self.detach(), lower, upper, generator));
}

}  // namespace ebb
