// A leaky ReLU whose slope is drawn.
#include <ebb/autograd/grad_mode.h>
#include <ebb/ops/copy.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/index.h>
#include <ebb/ops/random.h>
#include <ebb/ops/shape.h>

namespace ebb {
namespace {

void check_bounds(const Scalar& lower, const Scalar& upper) {
  EBB_CHECK(lower.to_double() <= upper.to_double(), "rrelu: lower must not exceed upper, got ", lower,
            " and ", upper, ".");
}

Scalar mean_slope(const Scalar& lower, const Scalar& upper) {
  return (lower.to_double() + upper.to_double()) / 2;
}

// A slope is drawn, in order, for each element that is not positive; the others keep 1.
Variable draw_slopes(const Variable& x, const Scalar& lower, const Scalar& upper,
                     const optional<Generator>& generator) {
  NoGradGuard no_grad;
  const Variable negative = (x.flatten() <= 0).nonzero().squeeze(1);
  const Variable draws = empty({negative.numel()}, TensorOptions(kDouble))
                             .uniform_(lower.to_double(), upper.to_double(), generator);
  return ones({x.numel()}, x.options()).index_copy_(0, negative, draws.to(x.options())).view(x.sizes());
}

}  // namespace

Variable rrelu(const Variable& self, const Scalar& lower, const Scalar& upper, bool training,
               const optional<Generator>& generator) {
  check_bounds(lower, upper);
  if (!training) return leaky_relu(self, mean_slope(lower, upper));
  return mul(self, draw_slopes(self.detach(), lower, upper, generator));
}

Variable& rrelu_(const Variable& self, const Scalar& lower, const Scalar& upper, bool training,
                 const optional<Generator>& generator) {
  check_bounds(lower, upper);
  if (!training) return leaky_relu_(self, mean_slope(lower, upper));
  return mul_(self, draw_slopes(self.detach(), lower, upper, generator));
}

}  // namespace ebb
