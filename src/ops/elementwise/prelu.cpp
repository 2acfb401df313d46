// prelu: its negative slope is a parameter.
#include <ebb/ops/elementwise.h>
#include <ebb/ops/shape.h>

#include "ops/common/autocast.h"
#include "ops/common/checks.h"

namespace ebb {
namespace {

using namespace ops;

// Reshapes a weight with one element per channel so that it broadcasts along dimension 1.
Variable along_channels(const Variable& weight, const Variable& x) {
  if (weight.numel() == 1 || x.dim() < 2) return reshape(weight, {});
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(x.dim()), 1);
  sizes[1] = weight.numel();
  return reshape(weight, sizes);
}

struct PreluNode final : autograd::Node {
  autograd::SavedVariable x{this}, weight{this};
  std::string name() const override { return "PreluBackward0"; }
  autograd::GradList apply(autograd::GradList&& grads) override {
    const Variable self = x.unpack(), w = weight.unpack(), &g = grads[0];
    autograd::GradList out;
    if (needs(0))
      out.push_back(where(self > 0, g, g * along_channels(w, self)));
    else
      out.emplace_back();
    if (needs(1)) {
      const Variable for_all = where(self > 0, 0, g * self);
      const Variable placed = along_channels(w, self);
      out.push_back(reshape(sum_to_size(for_all, placed.sizes()), w.sizes()));
    } else {
      out.emplace_back();
    }
    return out;
  }
};

}  // namespace

Variable prelu(const Variable& self, const Variable& weight) {
  EBB_AUTOCAST(prelu, self, weight);
  EBB_CHECK(self.defined() && weight.defined(), "prelu: expected two tensors, got an undefined one.");
  check_same_dtype("prelu", self, weight);
  EBB_CHECK(weight.dim() <= 1, "prelu: Expected `weight` to be a scalar or 1D tensor, but got ",
            weight.sizes(), ". Use .flatten().");
  EBB_CHECK(self.dim() > 0 || weight.numel() == 1, "prelu: Not allow zero-dim input tensor with ",
            weight.numel(), " weights. Give one weight.");
  const std::int64_t channels = self.dim() < 2 ? 1 : self.size(1);
  EBB_CHECK(weight.numel() == 1 || weight.numel() == channels,
            "prelu: Mismatch of parameter numbers and input channel size. Found parameter numbers = ",
            weight.numel(), " and channel size = ", channels, ". Give one weight, or one for each channel.");
  Variable out;
  {
    const NoGradGuard quiet;
    out = where(self > 0, self, self * along_channels(weight, self));
  }
  if (autograd::records(self, weight)) {
    auto node = autograd::make_node<PreluNode>(self, weight);
    node->x.save(self);
    node->weight.save(weight);
    autograd::set_history(out, node);
  }
  return out;
}

}  // namespace ebb
