// Pointwise losses with fused kernels: mse, smooth L1, Huber, soft margin and the binary cross-entropies.
#include <ebb/autograd/record.h>
#include <ebb/core/visit.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>

#include "ops/common/arrays.h"
#include "ops/common/autocast.h"
#include "ops/common/checks.h"
#include "ops/common/record.h"
#include "ops/loss/loss.h"

#include <limits>

namespace ebb {

namespace {

using kernels::LossInputs;
using kernels::LossReduction;

// Calls f(p), where p is the weight of positive labels, or f(Unweighted()) if p is undefined.
template <class F>
Variable with_positive_weight(const Variable& p, const F& f) {
  return p.defined() ? f(p) : f(math::Unweighted());
}

/// Returns the inputs as contiguous arrays of the same shape, for the kernels.
LossInputs inputs_of(const Variable& x, const Variable& y, const Variable& w, const Variable& p,
                     IntArrayRef sizes) {
  const ops::ArrayForm form{.sizes = sizes};
  return {ops::contiguous_array(x, form), ops::contiguous_array(y, form), ops::contiguous_array(w, form),
          ops::contiguous_array(p, form)};
}

template <class F>
struct PointwiseLossBackward : autograd::Node {
  autograd::SavedVariable self{this}, target{this}, weight{this}, pos_weight{this};
  F f;
  const char* node_name = nullptr;
  DimVector sizes;
  LossReduction how;

  std::string name() const override { return node_name; }
  autograd::GradList apply(autograd::GradList&& grads) override {
    const Variable x = self.unpack(), y = target.unpack(), w = weight.unpack(), p = pos_weight.unpack();
    const Variable& grad = grads[0];
    autograd::GradList out;
    const auto times = [&](const Variable& derivative) {
      Variable g = grad * derivative;
      if (how.scale != 1) g = g * how.scale;
      return w.defined() ? g * w : g;
    };
    if (!needs(0)) {
      out.push_back({});
    } else if (GradMode::is_enabled()) {
      out.push_back(
          times(with_positive_weight(p, [&](const auto& weighted) { return f.derivative(x, y, weighted); })));
    } else {
      NdArray dx = NdArray::empty(sizes, x.dtype(), x.device());
      const NdArray g = how.reduced ? grad.array() : ops::contiguous_array(grad, {.sizes = sizes});
      const LossInputs in = inputs_of(x, y, w, p, sizes);
      kernels::PointwiseLoss<F>::backward(x.device(), dx, f, g, in, how);
      out.push_back(Variable(std::move(dx)));
    }
    if (needs(1))
      out.push_back(times(with_positive_weight(
          p, [&](const auto& weighted) { return f.target_derivative(x, y, weighted); })));
    else
      out.emplace_back();
    return out;
  }
};

template <class F>
Variable pointwise_loss(const char* op, const char* node_name, F f, const Variable& self,
                        const Variable& target, std::int64_t reduction, const Variable& weight = {},
                        const Variable& pos_weight = {}) {
  const Device device = ops::common_device(op, self, target, weight, pos_weight);
  EBB_CHECK(target.defined(), op, ": the target is undefined.");
  ops::check_reduction(op, reduction);
  const DType dtype = promote_types(self.dtype(), target.dtype());
  EBB_CHECK(is_floating(dtype), op, ": expected a floating-point dtype, got ", self.dtype(), " and ",
            target.dtype(), ". Convert with .to(ebb::kFloat).");
  const auto convert = [&](const Variable& v) {
    return !v.defined() || v.dtype() == dtype ? v : v.to(dtype);
  };
  const Variable x = convert(self), y = convert(target), w = convert(weight), p = convert(pos_weight);
  DimVector sizes(x.sizes());
  if (x.sizes() != y.sizes()) sizes = broadcast_shapes(op, x.sizes(), y.sizes());

  LossReduction how;
  how.reduced = reduction != Reduction::None;
  const std::int64_t numel = checked_numel(sizes);
  // The mean of an empty tensor is NaN. Its scale is set to NaN, because 1 / 0 would be infinity.
  if (reduction == Reduction::Mean)
    how.scale = numel == 0 ? std::numeric_limits<double>::quiet_NaN() : 1.0 / static_cast<double>(numel);
  NdArray array = how.reduced ? NdArray::empty({}, dtype, device) : NdArray::empty(sizes, dtype, device);
  const LossInputs in = inputs_of(x, y, w, p, sizes);
  kernels::PointwiseLoss<F>::forward(device, array, f, in, how);
  return ops::record<PointwiseLossBackward<F>>(
      std::move(array),
      [&](PointwiseLossBackward<F>& node) {
        node.f = f;
        node.node_name = node_name;
        node.sizes = std::move(sizes);
        node.how = how;
        node.self.save(x);
        node.target.save(y);
        node.weight.save(w);
        node.pos_weight.save(p);
      },
      x, y);
}

// Expands the target to the shape of the input, as torch's kernels do. Without dimensions of size 1, the
// target's sizes must be the last sizes of the input.
Variable shaped_as(const Variable& input, const Variable& target) {
  if (!target.defined() || input.sizes() == target.sizes()) return target;
  const Variable rest = target.squeeze();
  const DimVector sizes(input.squeeze().sizes());
  const std::size_t n = rest.sizes().size();
  EBB_CHECK(n <= sizes.size() && IntArrayRef(sizes).slice(sizes.size() - n) == rest.sizes(),
            "binary_cross_entropy: the target's shape ", target.sizes(), " does not fit the input's, ",
            input.sizes(), ". Reshape one of them.");
  return rest.expand(sizes).reshape(input.sizes());
}

/// Throws if a value is outside [0, 1].
void check_probabilities(const Variable& x, const char* message) {
  if (!x.is_cpu() || x.numel() == 0) return;  // on a device this would synchronize
  const Variable data = x.detach();
  ops::check_true("binary_cross_entropy", ((data >= 0).logical_and(data <= 1)).all(), message);
}

/// Throws unless `full` has a floating-point dtype and the shape to which both tensors broadcast. In torch,
/// the output array has the shape and dtype of `full`.
void check_broadcast(const char* op, const Variable& full, const char* name, const Variable& other,
                     const char* full_name) {
  EBB_CHECK(other.defined() && full.sizes() == IntArrayRef(broadcast_shapes(op, full.sizes(), other.sizes())),
            op, ": the ", name, " does not broadcast to the ", full_name, "'s shape ", full.sizes(), ".");
  EBB_CHECK(is_floating(full.dtype()), op, ": expected ", full_name, " of a floating-point dtype, got ",
            full.dtype(), ". Convert it with .to(ebb::kFloat).");
}

}  // namespace

namespace ops {
Variable fused_l1_loss(const Variable& self, const Variable& target, std::int64_t reduction) {
  return pointwise_loss("l1_loss", "L1LossBackward0", math::L1Loss(), self, target, reduction);
}
Variable fused_kl_div(const Variable& self, const Variable& target, std::int64_t reduction, bool log_target) {
  return pointwise_loss("kl_div", "KlDivBackward0", math::KlDivLoss{log_target}, self, target, reduction);
}
}  // namespace ops

Variable mse_loss(const Variable& self, const Variable& target, std::int64_t reduction) {
  EBB_AUTOCAST(mse_loss, self, target, reduction);
  return pointwise_loss("mse_loss", "MseLossBackward0", math::MseLoss(), self, target, reduction);
}

Variable smooth_l1_loss(const Variable& self, const Variable& target, std::int64_t reduction, double beta) {
  EBB_AUTOCAST(smooth_l1_loss, self, target, reduction, beta);
  EBB_CHECK(beta >= 0, "smooth_l1_loss does not support negative values for beta. Got: ", beta);
  if (beta == 0) return l1_loss(self, target, reduction);
  return pointwise_loss("smooth_l1_loss", "SmoothL1LossBackward0", math::SmoothL1Loss{beta}, self, target,
                        reduction);
}

Variable huber_loss(const Variable& self, const Variable& target, std::int64_t reduction, double delta) {
  EBB_AUTOCAST(huber_loss, self, target, reduction, delta);
  EBB_CHECK(delta > 0, "huber_loss does not support non-positive values for delta. Got: ", delta, ".");
  return pointwise_loss("huber_loss", "HuberLossBackward0", math::HuberLoss{delta}, self, target, reduction);
}

Variable soft_margin_loss(const Variable& self, const Variable& target, std::int64_t reduction) {
  EBB_AUTOCAST(soft_margin_loss, self, target, reduction);
  const char* op = "soft_margin_loss";
  ops::common_device(op, self, target);
  check_broadcast(op, self, "target", target, "input");
  ops::check_no_gradient(op, "target", target);
  return pointwise_loss(op, "SoftMarginLossBackward0", math::SoftMarginLoss(), self, target, reduction);
}

Variable binary_cross_entropy(const Variable& self, const Variable& target, const optional<Variable>& weight,
                              std::int64_t reduction) {
  EBB_AUTOCAST(binary_cross_entropy, self, target, weight, reduction);
  const char* op = "binary_cross_entropy";
  const Variable w = weight.value_or(Variable());
  ops::common_device(op, self, target, w);
  EBB_CHECK(target.defined(), op, ": the target is undefined.");
  ops::check_same_dtype(op, self, target);
  ops::check_no_gradient(op, "weight", w);
  const Variable y = shaped_as(self, target);
  check_probabilities(self,
                      "all elements of input should be between 0 and 1. Pass probabilities, or logits to "
                      "binary_cross_entropy_with_logits.");
  check_probabilities(
      y, "all elements of target should be between 0 and 1. Pass probabilities, or labels 0 and 1.");
  return pointwise_loss(op, "BinaryCrossEntropyBackward0", math::BceLoss(), self, y, reduction, w);
}

Variable binary_cross_entropy_with_logits(const Variable& self, const Variable& target,
                                          const optional<Variable>& weight,
                                          const optional<Variable>& pos_weight, std::int64_t reduction) {
  EBB_AUTOCAST(binary_cross_entropy_with_logits, self, target, weight, pos_weight, reduction);
  const char* op = "binary_cross_entropy_with_logits";
  ops::common_device(op, self, target);
  EBB_CHECK(target.defined(), op, ": the target is undefined.");
  check_broadcast(op, target, "input", self, "target");
  EBB_CHECK(is_floating(self.dtype()), op, ": expected input of a floating-point dtype, got ", self.dtype(),
            ". Convert it with .to(ebb::kFloat).");
  const Variable w = weight.value_or(Variable()), positive = pos_weight.value_or(Variable());
  if (positive.defined()) check_broadcast(op, self, "target", target, "input");
  ops::check_no_gradient(op, "weight", w);
  ops::check_no_gradient(op, "pos_weight", positive);
  return pointwise_loss(op, "BinaryCrossEntropyWithLogitsBackward0", math::BceWithLogitsLoss(), self, target,
                        reduction, w, positive);
}

}  // namespace ebb
