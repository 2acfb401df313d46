// rrelu, leaky ReLU with random slopes, and rrelu_with_noise, which also returns the slopes.
#include <ebb/autograd/grad_mode.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/index.h>
#include <ebb/ops/random.h>
#include <ebb/ops/shape.h>

#include "ops/common/checks.h"
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

// Returns the slopes of rrelu. They are random numbers, drawn in order, for elements that are not positive,
// and 1 for the others. The slopes of 16-bit elements are floats.
Variable rrelu_slopes(const Variable& x, const Scalar& lower, const Scalar& upper,
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

void check_noise(const Variable& self, const Variable& noise, const Scalar& lower, const Scalar& upper) {
  const char* op = "rrelu_with_noise";
  ops::common_device(op, self, noise);
  EBB_CHECK(lower.to_double() <= upper.to_double(), op, ": lower must not exceed upper, got ", lower, " and ",
            upper, ".");
  EBB_CHECK(noise.defined() && noise.sizes() == self.sizes(), op, ": noise must have the shape of self, ",
            self.sizes(), ".");
  ops::check_same_dtype(op, self, noise);
}

// Draws the slopes for training and writes them to noise.
Variable draw_noise(const Variable& self, const Variable& noise, const Scalar& lower, const Scalar& upper,
                    const optional<Generator>& generator) {
  const Variable slopes = rrelu_slopes(self.detach(), lower, upper, generator);
  noise.detach().copy_(slopes);
  return slopes;
}

}  // namespace

Variable rrelu(const Variable& self, const Scalar& lower, const Scalar& upper, bool training,
               const optional<Generator>& generator) {
  check_bounds(self, lower, upper);
  if (!training) return leaky_relu(self, mean_slope(lower, upper));
  return mul(self, rrelu_slopes(self.detach(), lower, upper, generator)).to(self.dtype());
}

Variable& rrelu_(const Variable& self, const Scalar& lower, const Scalar& upper, bool training,
                 const optional<Generator>& generator) {
  check_bounds(self, lower, upper);
  if (!training) return leaky_relu_(self, mean_slope(lower, upper));
  return mul_(self, rrelu_slopes(self.detach(), lower, upper, generator));
}

Variable rrelu_with_noise(const Variable& self, const Variable& noise, const Scalar& lower,
                          const Scalar& upper, bool training, const optional<Generator>& generator) {
  check_noise(self, noise, lower, upper);
  if (!training) return leaky_relu(self, (lower.to_double() + upper.to_double()) / 2);
  return mul(self, draw_noise(self, noise, lower, upper, generator)).to(self.dtype());
}

Variable& rrelu_with_noise_(const Variable& self, const Variable& noise, const Scalar& lower,
                            const Scalar& upper, bool training, const optional<Generator>& generator) {
  check_noise(self, noise, lower, upper);
  if (!training) return leaky_relu_(self, (lower.to_double() + upper.to_double()) / 2);
  return mul_(self, draw_noise(self, noise, lower, upper, generator));
}

std::tuple<Variable, Variable> rrelu_with_noise_functional(const Variable& self, const Variable& noise,
                                                           const Scalar& lower, const Scalar& upper,
                                                           bool training,
                                                           const optional<Generator>& generator) {
  const Variable slopes = noise.detach().clone();
  const Variable out = rrelu_with_noise(self, slopes, lower, upper, training, generator);
  return {out, slopes};
}

}  // namespace ebb
