// Helpers of the ops that draw random numbers, in place or into new tensors.
#pragma once

#include <ebb/autograd/record.h>
#include <ebb/ops/random.h>

#include "ops/common/factories.h"
#include "ops/common/record.h"
#include "ops/random/kernels.h"

namespace ebb::ops {

/// The node of random results. The results do not depend on the elements that they replace. By convention
/// they do not depend on the parameters of the distribution either, so all gradients are zero.
struct RandomBackward : autograd::Node {
  const char* torch_name = "";
  std::string name() const override { return torch_name; }
  autograd::GradList apply(autograd::GradList&& grads) override;
};

/// Returns the given generator, or the default one.
inline Generator generator_or_default(const optional<Generator>& given) {
  return given && given->defined() ? *given : default_generator();
}

/// Runs draw(NdArray&) on self's memory as the in-place op `op`. torch's name of the node is `node_name`.
/// `parameters` are tensors on which the op depends.
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

/// Returns `data` as a Variable. Its node has edges to `parameters`, with gradients of zero.
template <class... Parameters>
Variable drawn(NdArray data, const char* node_name, const Parameters&... parameters) {
  return record<RandomBackward>(
      std::move(data), [&](RandomBackward& node) { node.torch_name = node_name; }, parameters...);
}

// The in-place ops and the ops with new results use these functions.

/// Returns the largest integer that random_() draws. For floating-point dtypes all integers up to it are
/// exact.
std::int64_t largest_random(DType dtype);
void check_uniform(const char* op, DType dtype, double from, double to);
void draw_integers(const char* op, NdArray& out, std::int64_t from, std::int64_t to,
                   const optional<Generator>& generator);

}  // namespace ebb::ops
