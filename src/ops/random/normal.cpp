// normal() with a tensor as mean or standard deviation.
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/reduce.h>

#include "ops/common/checks.h"
#include "ops/random/inplace.h"

namespace ebb {
namespace {

NdArray standard(IntArrayRef sizes, const Variable& like, double mean, double std,
                 const optional<Generator>& generator) {
  EBB_CHECK(is_floating(like.dtype()), "normal: dtype ", like.dtype(),
            " is not supported; expected a floating dtype.");
  NdArray out = NdArray::empty(sizes, like.dtype(), like.device());
  Generator g = ops::generator_or_default(generator);
  kernels::sample(out.device(), out, ops::Distribution::normal, mean, std, g);
  return out;
}

void check_deviation(double std) {
  EBB_CHECK(std >= 0, "normal: expects all elements of std >= 0.0, but found ", std, ".");
}
void check_deviations(const Variable& std) {
  ops::check_true("normal", std.detach().ge(0),
                  "expects all elements of std >= 0.0, but found a negative or NaN one.");
}

}  // namespace

Variable normal(const Variable& mean, double std, const optional<Generator>& generator) {
  check_deviation(std);
  Variable noise(standard(mean.sizes(), mean, 0, std, generator));
  noise.add_(mean.detach());
  return ops::drawn(noise.array(), "NormalBackward1", mean);
}

Variable normal(double mean, const Variable& std, const optional<Generator>& generator) {
  check_deviations(std);
  Variable noise(standard(std.sizes(), std, 0, 1, generator));
  noise.mul_(std.detach()).add_(mean);
  return ops::drawn(noise.array(), "NormalBackward2", std);
}

Variable normal(const Variable& mean, const Variable& std, const optional<Generator>& generator) {
  ops::common_device("normal", mean, std);
  check_deviations(std);
  const DimVector sizes = broadcast_shapes("normal", mean.sizes(), std.sizes());
  Variable noise(standard(sizes, mean, 0, 1, generator));
  noise.mul_(std.detach()).add_(mean.detach());
  return ops::drawn(noise.array(), "NormalBackward3", mean, std);
}

Variable normal(double mean, double std, IntArrayRef sizes, const optional<Generator>& generator,
                const TensorOptions& options) {
  Variable out = empty(sizes, options.requires_grad(false));
  normal_(out, mean, std, generator);
  if (options.requires_grad()) out.set_requires_grad(true);
  return out;
}

}  // namespace ebb
