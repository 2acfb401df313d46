// poisson and binomial.
#include <ebb/ops/random.h>
#include <ebb/ops/shape.h>

#include "ops/common/arrays.h"
#include "ops/common/checks.h"
#include "ops/random/inplace.h"

namespace ebb {

Variable poisson(const Variable& self, const optional<Generator>& generator) {
  EBB_CHECK(self.defined() && is_floating(self.dtype()), "poisson: the rates must be floating, got ", self,
            ". Convert them with .to(kFloat).");
  NdArray out = NdArray::empty(self.sizes(), self.dtype(), self.device());
  Generator g = ops::generator_or_default(generator);
  kernels::poisson(out.device(), out, ops::contiguous_array(self.array()), g);
  return ops::drawn(std::move(out), "PoissonBackward0", self);
}

Variable binomial(const Variable& count, const Variable& prob, const optional<Generator>& generator) {
  const Device device = ops::common_device("binomial", count, prob);
  ops::check_same_dtype("binomial", count, prob);
  EBB_CHECK(is_floating(count.dtype()), "binomial: counts and probabilities must be floating, got ",
            count.dtype(), ". Convert them with .to(kFloat).");
  const DimVector sizes = broadcast_shapes("binomial", count.sizes(), prob.sizes());
  NdArray out = NdArray::empty(sizes, count.dtype(), device);
  Generator g = ops::generator_or_default(generator);
  kernels::binomial(device, out, ops::contiguous_array(count.array().expand(sizes)),
                    ops::contiguous_array(prob.array().expand(sizes)), g);
  return ops::drawn(std::move(out), "BinomialBackward0", count, prob);
}

}  // namespace ebb
