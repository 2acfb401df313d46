// glu (gated linear unit): composed of views and products, recorded as one node.
#include <ebb/autograd/record.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/shape.h>

#include "ops/common/checks.h"
#include "ops/elementwise/formulas/activations.h"
#include "ops/elementwise/record_formula.h"

namespace ebb {
namespace {

struct GluBackward : autograd::Node {
  autograd::SavedVariable self{this};
  std::int64_t dim = 0;
  std::string name() const override { return "GluBackward0"; }
  autograd::GradList apply(autograd::GradList&& grads) override {
    const Variable x = self.unpack();
    const std::int64_t half = x.size(dim) / 2;
    const Variable gate = narrow(x, dim, half, half), value = narrow(x, dim, 0, half);
    return {cat({grads[0] * sigmoid(gate), ops::gradient_of(ops::Sigmoid(), grads[0] * value, gate)}, dim)};
  }
};

}  // namespace

Variable glu(const Variable& self, std::int64_t dim) {
  ops::common_device("glu", self);
  EBB_CHECK(is_floating(self.dtype()), "glu: expected a floating-point tensor, got ", self.dtype(),
            ". Convert it with .to(ebb::kFloat).");
  EBB_CHECK(self.dim() > 0, "glu: does not support 0-dimensional tensors; unsqueeze() it first.");
  dim = wrap_dim("glu", dim, self.dim());
  EBB_CHECK(self.size(dim) % 2 == 0, "glu: Halving dimension must be even, but dimension ", dim, " is size ",
            self.size(dim), " in shape ", self.sizes(), ".");
  const std::int64_t half = self.size(dim) / 2;
  Variable out;
  {
    NoGradGuard no_grad;
    out = narrow(self, dim, 0, half) * sigmoid(narrow(self, dim, half, half));
  }
  if (autograd::records(self)) {
    auto node = autograd::make_node<GluBackward>(self);
    node->self.save(self);
    node->dim = dim;
    autograd::set_history(out, node);
  }
  return out;
}

}  // namespace ebb
