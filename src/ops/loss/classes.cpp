// nll_loss, nll_loss2d and nll_loss_nd: the negative log-likelihood -w_t x_t of classes t, and its
// derivatives.
#include <ebb/autograd/record.h>
#include <ebb/ops/creation.h>

#include "ops/common/arrays.h"
#include "ops/common/autocast.h"
#include "ops/common/checks.h"
#include "ops/common/record.h"
#include "ops/loss/loss.h"

namespace ebb {

namespace ops {

ClassProblem class_problem(const char* op, const Variable& x, const Variable& target,
                           const optional<Variable>& weight, std::int64_t reduction,
                           std::int64_t ignore_index) {
  const Variable w = weight.value_or(Variable());
  ops::common_device(op, x, target, w);
  ops::check_reduction(op, reduction);
  EBB_CHECK(x.dim() > 0, op, ": expected scores of 1 or more dimensions, got a 0-dimensional tensor.");
  EBB_CHECK(target.defined() && (target.dtype() == kLong || (target.dtype() == kByte && x.dim() <= 2)), op,
            ": expected scalar type Long but found ",
            target.defined() ? to_string(target.dtype()) : "no target",
            ". Convert the target with .to(ebb::kLong).");
  ClassProblem p;
  p.to.op = op;
  const bool single = x.dim() == 1;
  p.to.batch = single ? 1 : x.size(0);
  p.to.classes = x.size(single ? 0 : 1);
  if (!single) p.out_sizes.push_back(p.to.batch);
  for (std::int64_t d = 2; d < x.dim(); ++d) {
    p.out_sizes.push_back(x.size(d));
    p.to.places *= x.size(d);
  }
  if (single)
    EBB_CHECK(target.dim() <= 1 && target.numel() == 1, op, ": scores of ", x.sizes(),
              " need one target, got ", target.sizes(), ".");
  else if (x.dim() == 2)
    EBB_CHECK(target.dim() == 1 && target.size(0) == p.to.batch, op, ": Expected input batch_size (",
              p.to.batch, ") to match target batch_size; got scores of ", x.sizes(), " and targets of ",
              target.sizes(), ".");
  else
    EBB_CHECK(target.sizes() == IntArrayRef(p.out_sizes), op, ": scores of ", x.sizes(), " need targets of ",
              IntArrayRef(p.out_sizes), ", got ", target.sizes(), ".");
  if (single && target.dim() == 1) p.out_sizes.push_back(1);
  if (w.defined()) {
    EBB_CHECK(w.dim() == 1 && w.numel() == p.to.classes, op,
              ": weight tensor should be defined either for all or no classes: expected [", p.to.classes,
              "], got ", w.sizes(), ".");
    ops::check_same_dtype(op, x, w);
    ops::check_no_gradient(op, "weight", w);
    p.to.weight = ops::contiguous_array(w);
  }
  NoGradGuard no_grad;
  p.to.target = target.to(kLong).contiguous().array();
  p.to.ignore_index = ignore_index;
  p.to.reduced = reduction != Reduction::None;
  p.to.mean = reduction == Reduction::Mean;
  return p;
}

NdArray class_loss_array(const ClassProblem& p, const Variable& x) {
  return NdArray::empty(p.to.reduced ? IntArrayRef() : IntArrayRef(p.out_sizes), x.dtype(), x.device());
}

namespace {

/// The node of nll_loss's backward. nll_loss is linear in the scores, so the derivative of its backward op is
/// nll_loss itself: -w_t x_t, divided by the saved total for a mean.
struct NllBackwardBackward : autograd::Node {
  std::shared_ptr<const NllState> state;
  bool two_d = false;
  std::string name() const override {
    return two_d ? "NllLoss2DBackwardBackward0" : "NllLossBackwardBackward0";
  }
  autograd::GradList apply(autograd::GradList&& grads) override;
};

struct NllBackward : autograd::Node {
  std::shared_ptr<const NllState> state;
  std::string name() const override {
    return state->sizes.size() > 2 ? "NllLoss2DBackward0" : "NllLossBackward0";
  }
  autograd::GradList apply(autograd::GradList&& grads) override { return {nll_backward(grads[0], state)}; }
};

Variable nll_forward(const Variable& x, const std::shared_ptr<NllState>& state) {
  NdArray out = class_loss_array(state->problem, x);
  if (!state->total.defined()) state->total = NdArray::empty({}, kDouble, x.device());
  kernels::nll_loss(x.device(), out, state->total, ops::contiguous_array(x), state->problem.to);
  return record<NllBackward>(std::move(out), [&](NllBackward& node) { node.state = state; }, x);
}

}  // namespace

Variable nll_backward(const Variable& grad, const std::shared_ptr<const NllState>& state) {
  NdArray dx = NdArray::empty(state->sizes, grad.dtype(), grad.device());
  kernels::nll_loss_backward(grad.device(), dx, ops::contiguous_array(grad), state->total, state->problem.to);
  return record<NllBackwardBackward>(
      std::move(dx),
      [&](NllBackwardBackward& node) {
        node.state = state;
        node.two_d = state->sizes.size() > 2;
      },
      grad);
}

autograd::GradList NllBackwardBackward::apply(autograd::GradList&& grads) {
  return {nll_forward(grads[0], std::make_shared<NllState>(*state))};
}

Variable nll(const char* op, const Variable& x, const Variable& target, const optional<Variable>& weight,
             std::int64_t reduction, std::int64_t ignore_index) {
  auto state = std::make_shared<NllState>();
  state->problem = class_problem(op, x, target, weight, reduction, ignore_index);
  state->sizes = DimVector(x.sizes());
  return nll_forward(x, state);
}

}  // namespace ops

Variable nll_loss(const Variable& self, const Variable& target, const optional<Variable>& weight,
                  std::int64_t reduction, std::int64_t ignore_index) {
  EBB_AUTOCAST(nll_loss, self, target, weight, reduction, ignore_index);
  EBB_CHECK(self.defined() && self.dim() <= 2, "nll_loss: input tensor should be 1D or 2D. Use nll_loss_nd.");
  return ops::nll("nll_loss", self, target, weight, reduction, ignore_index);
}

Variable nll_loss2d(const Variable& self, const Variable& target, const optional<Variable>& weight,
                    std::int64_t reduction, std::int64_t ignore_index) {
  EBB_AUTOCAST_AS("nll_loss", nll_loss2d, self, target, weight, reduction, ignore_index);
  EBB_CHECK(self.defined() && self.dim() == 4,
            "nll_loss2d: only batches of spatial inputs supported (4D tensors).");
  return ops::nll("nll_loss2d", self, target, weight, reduction, ignore_index);
}

Variable nll_loss_nd(const Variable& self, const Variable& target, const optional<Variable>& weight,
                     std::int64_t reduction, std::int64_t ignore_index) {
  EBB_AUTOCAST_AS("nll_loss", nll_loss_nd, self, target, weight, reduction, ignore_index);
  return ops::nll("nll_loss", self, target, weight, reduction, ignore_index);
}

}  // namespace ebb
