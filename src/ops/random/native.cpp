// native_dropout and rrelu_with_noise, which also return their random numbers.
#include <ebb/autograd/grad_mode.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/random.h>

#include "ops/common/checks.h"
#include "ops/random/inplace.h"

namespace ebb {
namespace {

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
  const Variable slopes = ops::rrelu_slopes(self.detach(), lower, upper, generator);
  noise.detach().copy_(slopes);
  return slopes;
}

}  // namespace

std::tuple<Variable, Variable> native_dropout(const Variable& input, double p, optional<bool> train) {
  ops::check_defined("native_dropout", input);
  EBB_CHECK(p >= 0 && p <= 1, "native_dropout: dropout probability has to be between 0 and 1, but got ", p,
            ".");
  const Variable keep = empty_like(input.detach(), TensorOptions(kBool));
  if (!train.value_or(true)) return {input.clone(), keep.fill_(true)};
  EBB_CHECK(is_floating(input.dtype()), "native_dropout: expected a floating-point dtype in training, got ",
            input.dtype(), ".");
  keep.bernoulli_(1 - p);
  return {mul(input, keep.to(input.dtype())).mul(p == 1 ? 0 : 1 / (1 - p)), keep};
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
