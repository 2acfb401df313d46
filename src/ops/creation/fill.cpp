// fill_ and zero_.
#include <ebb/autograd/record.h>
#include <ebb/ops/creation.h>

#include "ops/common/arrays.h"
#include "ops/common/checks.h"
#include "ops/common/kernels.h"
#include "ops/common/layout.h"
#include "ops/common/record.h"

namespace ebb {
namespace {

using autograd::GradList;

// The gradient of overwritten elements is zero, not undefined: as in torch, leaves get zeros in .grad.
struct FillScalarBackward : autograd::Node {
  const char* torch_name = "";
  std::string name() const override { return torch_name; }
  GradList apply(GradList&& grads) override { return {zeros_like(grads[0])}; }
};

struct FillTensorBackward : autograd::Node {
  const char* torch_name = "";
  std::string name() const override { return torch_name; }
  GradList apply(GradList&& grads) override {
    GradList out(2);
    if (needs(0)) out[0] = zeros_like(grads[0]);
    if (needs(1)) out[1] = std::move(grads[0]);  // the engine reduces it to the shape of the 0-d value
    return out;
  }
};

Variable& fill_with(const Variable& self, const Scalar& value, const char* op, const char* node_name) {
  ops::check_defined(op, self);
  ops::check_fits(op, value, self.dtype());
  return ops::record_inplace<FillScalarBackward>(
      self, op, [&](NdArray& out) { kernels::fill(self.device(), out, value); },
      [&](FillScalarBackward& node) { node.torch_name = node_name; });
}

void check_fill_value(const char* op, const Variable& value) {
  EBB_CHECK(value.defined() && value.dim() == 0, op, ": only a 0-dimensional value tensor can fill, got ",
            value.defined() ? value.dim() : -1, " dimensions. Use copy_ to write a tensor.");
}

}  // namespace

Variable& fill_(const Variable& self, const Scalar& value) {
  return fill_with(self, value, "fill_", "FillBackward2");
}
Variable& zero_(const Variable& self) { return fill_with(self, 0, "zero_", "ZeroBackward0"); }

Variable& fill_(const Variable& self, const Variable& value) {
  ops::check_defined("fill_", self);
  check_fill_value("fill_", value);
  autograd::check_inplace(self, "fill_");
  const auto name = [](FillTensorBackward& n) { n.torch_name = "FillBackward3"; };
  const Ref<FillTensorBackward> node = is_floating(self.dtype())
                                           ? ops::node_of<FillTensorBackward>(name, self, value)
                                           : Ref<FillTensorBackward>();
  NdArray out = self.array();
  // A copy, because the value may be a view of self.
  NdArray one = NdArray::empty({}, out.dtype(), out.device());
  ops::copy_array(one, value.array());
  ops::copy_array(out, one.expand(out.sizes()));
  autograd::bump_version(self);
  autograd::rebase_history(self, node);
  return ops::mutable_self(self);
}

Variable fill(const Variable& x, const Scalar& value) {
  ops::check_fits("fill", value, x.dtype());
  NdArray out = ops::empty_array_like(x.array(), x.dtype(), x.device());
  kernels::fill(x.device(), out, value);
  return ops::record<FillScalarBackward>(
      std::move(out), [&](FillScalarBackward& node) { node.torch_name = "FillBackward0"; }, x);
}

Variable fill(const Variable& x, const Variable& value) {
  check_fill_value("fill", value);
  NdArray out = ops::empty_array_like(x.array(), x.dtype(), x.device());
  NdArray one = NdArray::empty({}, out.dtype(), out.device());
  ops::copy_array(one, value.array());
  ops::copy_array(out, one.expand(out.sizes()));
  Variable result(std::move(out));
  if (is_floating(x.dtype()))
    if (const auto node = ops::record_results<FillTensorBackward>({&result}, x, value))
      node->torch_name = "FillBackward1";
  return result;
}

}  // namespace ebb
