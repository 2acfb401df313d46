// Filling with random numbers, in place and fresh.
#pragma once

#include <ebb/autograd/record.h>
#include <ebb/ops/random.h>

#include "ops/common/fresh.h"
#include "ops/common/record.h"
#include "ops/common/self.h"
#include "ops/random/kernels.h"

namespace ebb::ops {

/// Numbers drawn at random do not depend on what they replace, nor, by convention, on their parameters: zero
/// gradients.
struct RandomBackward : autograd::Node {
  const char* torch_name = "";
  std::string name() const override { return torch_name; }
  autograd::GradList apply(autograd::GradList&& grads) override;
};

/// The generator to draw from: the given one, else the default.
inline Generator generator_or_default(const optional<Generator>& given) {
  return given && given->defined() ? *given : default_generator();
}

/// Runs draw(NdArray&) on self's memory as the in-place op `op`, whose node torch calls `node_name`.
/// `parameters` are tensors that the op depends on.
template <class Draw, class... Parameters>
Variable& overwrite(const Variable& self, const char* op, const char* node_name, Draw&& draw,
                    const Parameters&... parameters) {
  autograd::check_inplace(self, op);
  const auto name = [&](RandomBackward& node) { node.torch_name = node_name; };
  const Ref<RandomBackward> node =
      is_floating(self.dtype()) ? node_of<RandomBackward>(name, self, parameters...) : Ref<RandomBackward>();
  NdArray out = self.array();
  draw(out);
  autograd::bump_version(self);
  autograd::rebase_history(self, node);
  return mutable_self(self);
}

/// Wraps a fresh result that `parameters` had a part in.
template <class... Parameters>
Variable drawn(NdArray data, const char* node_name, const Parameters&... parameters) {
  return record<RandomBackward>(
      std::move(data), [&](RandomBackward& node) { node.torch_name = node_name; }, parameters...);
}

/// A slope drawn, in order, for each element that is not positive; the others have 1. Slopes of 16-bit
/// elements are floats.
Variable rrelu_slopes(const Variable& x, const Scalar& lower, const Scalar& upper,
                      const optional<Generator>& generator);

// What the fresh and the in-place functions share: checks of the parameters.

/// The largest number that random_() draws: of floating dtypes all integers up to it are different.
std::int64_t largest_random(DType dtype);
void check_uniform(const char* op, DType dtype, double from, double to);
void draw_integers(const char* op, NdArray& out, std::int64_t from, std::int64_t to,
                   const optional<Generator>& generator);

}  // namespace ebb::ops
