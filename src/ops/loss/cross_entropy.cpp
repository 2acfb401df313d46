// cross_entropy_loss. It runs as a fused kernel with a fused gradient if one is available. Otherwise the loss
// is composed of other ops.
#include <ebb/autograd/backward.h>
#include <ebb/autograd/record.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/index.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>

#include "ops/common/arrays.h"
#include "ops/common/autocast.h"
#include "ops/common/checks.h"
#include "ops/common/record.h"
#include "ops/loss/loss.h"

namespace ebb {

namespace {

using kernels::ClassTargets;
using ops::ClassProblem;
using ops::NllState;

/// Computes the loss for a target of probabilities.
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
    shape[dim] = classes;
    terms = terms * weight.view(shape);
  }
  switch (reduction) {
    case Reduction::Mean:
      return -terms.sum(dim).mean();
    case Reduction::Sum:
      return -terms.sum();
    default:
      return -terms.sum(dim);
  }
}

/// Computes the loss with label smoothing for a target of classes. Ignored positions add nothing.
Variable smoothed_cross_entropy(const Variable& x, const Variable& target, const Variable& weight,
                                std::int64_t reduction, std::int64_t ignore_index, double smoothing) {
  const std::int64_t dim = x.dim() == 1 ? 0 : 1;
  const Variable log_probability = x.log_softmax(dim);
  const Variable hard = nll_loss_nd(log_probability, target, weight, reduction, ignore_index);
  Variable smooth;
  if (weight.defined()) {
    DimVector shape;
    shape.assign(static_cast<std::size_t>(x.dim()), 1);
    shape[dim] = weight.size(0);
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

/// The options of a cross_entropy_loss call.
struct CrossEntropy {
  std::int64_t reduction = Reduction::Mean, ignore_index = -100;
  double smoothing = 0;
  bool soft = false;  // the target contains probabilities

  /// Computes the loss with other differentiable ops.
  Variable composed(const Variable& x, const Variable& target, const Variable& weight) const {
    return soft ? soft_cross_entropy(x, target, weight, reduction, smoothing)
                : smoothed_cross_entropy(x, target, weight, reduction, ignore_index, smoothing);
  }
};

/// The node of the fused kernel: nll_loss(log_softmax(x)), on CUDA devices also with soft targets and label
/// smoothing.
struct CrossEntropyBackward : autograd::Node {
  // target and weight are saved only if `call` has smoothing or a soft target.
  autograd::SavedVariable self{this}, target{this}, weight{this};
  std::shared_ptr<const NllState> state;
  NdArray kept;
  CrossEntropy call;

  bool plain() const { return !call.soft && call.smoothing == 0; }
  std::string name() const override {
    if (!plain()) return "CrossEntropyLossBackward0";
    return state->sizes.size() > 2 ? "NllLoss2DBackward0" : "NllLossBackward0";
  }
  void release_variables() override {
    Node::release_variables();
    kept = NdArray();
  }
  autograd::GradList apply(autograd::GradList&& grads) override {
    const Variable x = self.unpack();
    if (GradMode::is_enabled()) {
      const Variable y =
          plain() ? x.log_softmax(x.dim() == 1 ? 0 : 1) : call.composed(x, target.unpack(), weight.unpack());
      const Variable g = plain() ? ops::nll_backward(grads[0], state) : grads[0];
      return {autograd::grad({y}, {x}, {g}, /*retain_graph=*/true, /*create_graph=*/true)[0]};
    }
    NdArray dx = NdArray::empty(state->sizes, x.dtype(), x.device());
    kernels::cross_entropy_backward(x.device(), dx, grads[0].contiguous().array(), state->total, kept,
                                    x.contiguous().array(), state->problem.to);
    return {Variable(std::move(dx))};
  }
};

Variable fused_cross_entropy(const Variable& x, ClassProblem problem, const CrossEntropy& call,
                             const Variable& target, const Variable& weight) {
  auto state = std::make_shared<NllState>();
  state->problem = std::move(problem);
  const ClassTargets& to = state->problem.to;
  state->sizes = DimVector(x.sizes());
  state->total = NdArray::empty({}, kDouble, x.device());
  NdArray out = ops::class_loss_array(state->problem, x);
  NdArray kept = NdArray::empty({(x.is_cpu() ? 1 : 2) * to.batch * to.places},
                                x.dtype() == kDouble ? kDouble : kFloat, x.device());
  kernels::cross_entropy(x.device(), out, state->total, kept, ops::contiguous_array(x), to);
  return ops::record<CrossEntropyBackward>(
      std::move(out),
      [&](CrossEntropyBackward& node) {
        node.self.save(x);
        node.call = call;
        if (!node.plain()) {
          node.target.save(target);
          node.weight.save(weight);
        }
        node.state = std::move(state);
        node.kept = std::move(kept);
      },
      x);
}

/// Returns the problem for a target of probabilities with the shape and dtype of the scores.
ClassProblem make_soft_problem(const Variable& x, const Variable& target, const Variable& weight,
                               const CrossEntropy& call) {
  ClassProblem p;
  const bool single = x.dim() == 1;
  p.to.op = "cross_entropy_loss";
  p.to.batch = single ? 1 : x.size(0);
  p.to.classes = x.size(single ? 0 : 1);
  if (!single) p.out_sizes.push_back(p.to.batch);
  for (std::int64_t d = 2; d < x.dim(); ++d) {
    p.out_sizes.push_back(x.size(d));
    p.to.places *= x.size(d);
  }
  if (weight.defined()) p.to.weight = ops::contiguous_array(weight);
  p.to.probabilities = ops::contiguous_array(target);
  p.to.reduced = call.reduction != Reduction::None;
  p.to.mean = call.reduction == Reduction::Mean;
  return p;
}

}  // namespace

Variable cross_entropy_loss(const Variable& self, const Variable& target, const optional<Variable>& weight,
                            std::int64_t reduction, std::int64_t ignore_index, double label_smoothing) {
  EBB_AUTOCAST(cross_entropy_loss, self, target, weight, reduction, ignore_index, label_smoothing);
  const char* op = "cross_entropy_loss";
  const Variable w = weight.value_or(Variable());
  ops::common_device(op, self, target, w);
  EBB_CHECK(label_smoothing >= 0 && label_smoothing <= 1, op,
            ": label_smoothing must be between 0.0 and 1.0. Got: ", label_smoothing);
  CrossEntropy call{reduction, ignore_index, label_smoothing, /*soft=*/false};
  if (target.defined() && self.sizes() == target.sizes() && is_floating(target.dtype())) {
    call.soft = true;
    ops::check_reduction(op, reduction);
    EBB_CHECK(ignore_index < 0, op, ": ignore_index is not supported for floating point target; got ",
              ignore_index, ". Leave it out, or give the target as classes.");
    EBB_CHECK(self.dim() > 0 && is_floating(self.dtype()), op,
              ": expected floating-point scores of 1 or more dimensions, got ", self, ".");
    EBB_CHECK(!w.defined() || (w.dim() == 1 && w.numel() == self.size(self.dim() == 1 ? 0 : 1)), op,
              ": weight tensor should be defined either for all classes or no classes, got ",
              w.defined() ? w.sizes() : IntArrayRef(), ".");
    const bool plain_tensors = target.dtype() == self.dtype() &&
                               (!w.defined() || w.dtype() == self.dtype()) && !autograd::records(target, w);
    if (self.is_cpu() || !plain_tensors) return call.composed(self, target, w);
    ClassProblem problem = make_soft_problem(self, target, w, call);
    problem.to.smoothing = label_smoothing;
    return fused_cross_entropy(self, std::move(problem), call, target, w);
  }
  ClassProblem problem = ops::class_problem(op, self, target, weight, reduction, ignore_index);
  const bool smoothed = label_smoothing > 0;
  if (smoothed && self.is_cpu()) return call.composed(self, target.to(kLong), w);
  if (self.is_cpu() && self.dim() > 2)
    return ops::nll(op, self.log_softmax(1), target, weight, reduction, ignore_index);
  problem.to.smoothing = label_smoothing;
  return fused_cross_entropy(self, std::move(problem), call, smoothed ? target.to(kLong) : target, w);
}

}  // namespace ebb
