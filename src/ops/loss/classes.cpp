// Losses over classes: nll_loss and cross_entropy_loss.
#include <ebb/core/visit.h>
#include <ebb/ops/copy.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/index.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>
#include <ebb/ops/softmax.h>

#include "ops/loss/loss.h"

namespace ebb {

namespace {

using kernels::ClassTargets;

struct Problem {
  ClassTargets to;
  DimVector out_sizes;  // of the unreduced loss
};

/// Checks the shapes; scores of (C), (N, C) or (N, C, ...) become (batch, classes, places).
Problem make_problem(const char* op, const Variable& x, const Variable& target,
                     const optional<Variable>& weight, std::int64_t reduction, std::int64_t ignore_index) {
  const Variable w = weight.value_or(Variable());
  ops::common_device(op, x, target, w);
  ops::check_reduction(op, reduction);
  EBB_CHECK(x.dim() > 0, op, ": expected scores of 1 or more dimensions, got a 0-dimensional tensor.");
  EBB_CHECK(target.defined() && (target.dtype() == kLong || target.dtype() == kByte), op,
            ": expected scalar type Long but found ",
            target.defined() ? to_string(target.dtype()) : "no target",
            ". Convert the target with .to(ebb::kLong).");
  Problem p;
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
    p.to.weight = w.detach().contiguous().array();
  }
  NoGradGuard no_grad;
  p.to.target = target.to(kLong).contiguous().array();
  p.to.ignore_index = ignore_index;
  p.to.reduced = reduction != Reduction::None;
  p.to.mean = reduction == Reduction::Mean;
  return p;
}

NdArray result_array(const Problem& p, const Variable& x) {
  return NdArray::empty(p.to.reduced ? IntArrayRef() : IntArrayRef(p.out_sizes), x.dtype(), x.device());
}

struct NllState {
  Problem problem;
  NdArray total;  // of the weights used; the gradient's divisor
  DimVector sizes;
};

Variable nll_backward(const Variable& grad, const std::shared_ptr<const NllState>& state);

/// -w_t x_t with the total of the forward pass: linear, so its own second derivative.
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
  NdArray out = result_array(state->problem, x);
  if (!state->total.defined()) state->total = NdArray::empty({}, kDouble, x.device());
  kernels::nll_loss(x.device(), out, state->total, x.detach().contiguous().array(), state->problem.to);
  Variable result(std::move(out));
  if (autograd::records(x)) {
    auto node = autograd::make_node<NllBackward>(x);
    node->state = state;
    autograd::set_history(result, node);
  }
  return result;
}

Variable nll_backward(const Variable& grad, const std::shared_ptr<const NllState>& state) {
  NdArray dx = NdArray::empty(state->sizes, grad.dtype(), grad.device());
  kernels::nll_loss_backward(grad.device(), dx, grad.detach().contiguous().array(), state->total,
                             state->problem.to);
  Variable result(std::move(dx));
  if (autograd::records(grad)) {
    auto node = autograd::make_node<NllBackwardBackward>(grad);
    node->state = state;
    node->two_d = state->sizes.size() > 2;
    autograd::set_history(result, node);
  }
  return result;
}

autograd::GradList NllBackwardBackward::apply(autograd::GradList&& grads) {
  return {nll_forward(grads[0], std::make_shared<NllState>(*state))};
}

/// nll_loss(log_softmax(x)) of (N, C) or (C) in one kernel.
struct CrossEntropyBackward : autograd::Node {
  autograd::SavedVariable self{this};
  std::shared_ptr<const NllState> state;
  NdArray logsum;

  std::string name() const override { return "NllLossBackward0"; }
  void release_variables() override {
    Node::release_variables();
    logsum = NdArray();
  }
  autograd::GradList apply(autograd::GradList&& grads) override {
    const Variable x = self.unpack();
    const std::int64_t dim = x.dim() - 1;
    if (GradMode::is_enabled()) {
      const Variable d = nll_backward(grads[0], state);
      return {d - x.softmax(dim) * d.sum(dim, true)};
    }
    NdArray dx = NdArray::empty(state->sizes, x.dtype(), x.device());
    kernels::cross_entropy_backward(x.device(), dx, grads[0].contiguous().array(), state->total, logsum,
                                    x.contiguous().array(), state->problem.to);
    return {Variable(std::move(dx))};
  }
};

Variable fused_cross_entropy(const Variable& x, Problem problem) {
  auto state = std::make_shared<NllState>();
  state->problem = std::move(problem);
  state->sizes = DimVector(x.sizes());
  state->total = NdArray::empty({}, kDouble, x.device());
  NdArray out = result_array(state->problem, x);
  NdArray logsum =
      NdArray::empty({state->problem.to.batch}, x.dtype() == kDouble ? kDouble : kFloat, x.device());
  kernels::cross_entropy(x.device(), out, state->total, logsum, x.detach().contiguous().array(),
                         state->problem.to);
  Variable result(std::move(out));
  if (autograd::records(x)) {
    auto node = autograd::make_node<CrossEntropyBackward>(x);
    node->self.save(x);
    node->state = std::move(state);
    node->logsum = std::move(logsum);
    autograd::set_history(result, node);
  }
  return result;
}

Variable nll(const char* op, const Variable& x, const Variable& target, const optional<Variable>& weight,
             std::int64_t reduction, std::int64_t ignore_index) {
  auto state = std::make_shared<NllState>();
  state->problem = make_problem(op, x, target, weight, reduction, ignore_index);
  state->sizes = DimVector(x.sizes());
  return nll_forward(x, state);
}

/// The target as probabilities.
Variable soft_cross_entropy(const Variable& x, const Variable& target, const Variable& weight,
                            std::int64_t reduction, double smoothing) {
  const std::int64_t dim = x.dim() == 1 ? 0 : 1;
  const std::int64_t classes = x.size(dim);
  Variable y = target;
  if (smoothing > 0) y = y * (1 - smoothing) + smoothing / static_cast<double>(classes);
  Variable terms = x.log_softmax(dim) * y;
  if (weight.defined()) {
    DimVector shape;
    shape.assign(static_cast<std::size_t>(x.dim()), 1);
    shape[static_cast<std::size_t>(dim)] = classes;
    terms = terms * weight.view(shape);
  }
  switch (reduction) {
    case Reduction::Mean:
      return -terms.sum() / (x.numel() / classes);
    case Reduction::Sum:
      return -terms.sum();
    default:
      return -terms.sum(dim);
  }
}

/// Classes mixed with the uniform distribution; ignored places count nothing.
Variable smoothed_cross_entropy(const Variable& x, const Variable& target, const Variable& weight,
                                std::int64_t reduction, std::int64_t ignore_index, double smoothing) {
  const std::int64_t dim = x.dim() == 1 ? 0 : 1;
  const Variable log_probability = x.log_softmax(dim);
  const Variable hard = nll_loss_nd(log_probability, target, weight, reduction, ignore_index);
  Variable smooth;
  if (weight.defined()) {
    DimVector shape;
    shape.assign(static_cast<std::size_t>(x.dim()), 1);
    shape[static_cast<std::size_t>(dim)] = weight.size(0);
    smooth = -(log_probability * weight.view(shape)).sum(dim);
  } else {
    smooth = -log_probability.sum(dim);
  }
  const Variable ignored = target == ignore_index;
  smooth = smooth.masked_fill(ignored, 0);
  if (reduction == Reduction::Sum) {
    smooth = smooth.sum();
  } else if (reduction == Reduction::Mean) {
    if (weight.defined()) {
      const Variable used = weight.index_select(0, target.masked_fill(ignored, 0).flatten());
      smooth = smooth.sum() / used.masked_fill(ignored.flatten(), 0).sum();
    } else {
      smooth = smooth.sum() / ignored.logical_not().sum();
    }
  }
  return hard * (1 - smoothing) + smooth * (smoothing / static_cast<double>(x.size(dim)));
}

}  // namespace

Variable nll_loss(const Variable& self, const Variable& target, const optional<Variable>& weight,
                  std::int64_t reduction, std::int64_t ignore_index) {
  EBB_CHECK(self.defined() && self.dim() <= 2, "nll_loss: input tensor should be 1D or 2D. Use nll_loss_nd.");
  return nll("nll_loss", self, target, weight, reduction, ignore_index);
}

Variable nll_loss2d(const Variable& self, const Variable& target, const optional<Variable>& weight,
                    std::int64_t reduction, std::int64_t ignore_index) {
  EBB_CHECK(self.defined() && self.dim() == 4,
            "nll_loss2d: only batches of spatial inputs supported (4D tensors).");
  return nll("nll_loss2d", self, target, weight, reduction, ignore_index);
}

Variable nll_loss_nd(const Variable& self, const Variable& target, const optional<Variable>& weight,
                     std::int64_t reduction, std::int64_t ignore_index) {
  return nll("nll_loss", self, target, weight, reduction, ignore_index);
}

Variable cross_entropy_loss(const Variable& self, const Variable& target, const optional<Variable>& weight,
                            std::int64_t reduction, std::int64_t ignore_index, double label_smoothing) {
  const char* op = "cross_entropy_loss";
  const Variable w = weight.value_or(Variable());
  ops::common_device(op, self, target, w);
  EBB_CHECK(label_smoothing >= 0 && label_smoothing <= 1, op,
            ": label_smoothing must be between 0.0 and 1.0. Got: ", label_smoothing);
  if (target.defined() && self.sizes() == target.sizes() && is_floating(target.dtype())) {
    ops::check_reduction(op, reduction);
    EBB_CHECK(self.dim() > 0 && is_floating(self.dtype()), op,
              ": expected floating-point scores of 1 or more dimensions, got ", self, ".");
    EBB_CHECK(!w.defined() || (w.dim() == 1 && w.numel() == self.size(self.dim() == 1 ? 0 : 1)), op,
              ": weight tensor should be defined either for all classes or no classes, got ",
              w.defined() ? w.sizes() : IntArrayRef(), ".");
    return soft_cross_entropy(self, target, w, reduction, label_smoothing);
  }
  Problem problem = make_problem(op, self, target, weight, reduction, ignore_index);
  if (label_smoothing > 0)
    return smoothed_cross_entropy(self, target.to(kLong), w, reduction, ignore_index, label_smoothing);
  if (self.dim() > 2) return nll(op, self.log_softmax(1), target, weight, reduction, ignore_index);
  return fused_cross_entropy(self, std::move(problem));
}

}  // namespace ebb
