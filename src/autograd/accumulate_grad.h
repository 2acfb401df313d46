// AccumulateGrad: the node at the end of each path, which adds to a leaf's .grad.
#pragma once

#include <ebb/autograd/node.h>

namespace ebb::autograd {

/// Adds `incoming` to `grad`. The sum is computed in place, unless it must be differentiable. If `may_steal`
/// is true, an undefined `grad` may become `incoming` itself, without a copy.
void accumulate_into(Variable& grad, const Variable& incoming, bool may_steal);

class AccumulateGrad : public Node {
 public:
  explicit AccumulateGrad(const Variable& leaf);
  ~AccumulateGrad() override;
  std::string name() const override { return "AccumulateGrad"; }
  GradList apply(GradList&& grads) override;
  const Variable& variable() const { return leaf_; }
  /// Runs the leaf's tensor hooks on the gradient in the order of their registration, and returns the result.
  Variable hooked(Variable incoming) const;

 private:
  Variable leaf_;
};

}  // namespace ebb::autograd
