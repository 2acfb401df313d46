// ctc_loss: checks of the arguments, and the backward node.
#include "ops/loss/ctc.h"

#include <ebb/autograd/record.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/loss.h>

#include "core/recorder.h"
#include "ops/common/arrays.h"
#include "ops/common/autocast.h"
#include "ops/common/checks.h"
#include "ops/common/record.h"
#include "ops/loss/loss.h"

#include <algorithm>
#include <memory>

namespace ebb {
namespace {

using autograd::GradList;
using kernels::CtcProblem;

struct CtcLossBackwardBackward : autograd::Node {
  std::string name() const override { return "CtcLossBackwardBackward0"; }
  GradList apply(GradList&&) override {
    detail::fail<NotImplementedError>(
        "ctc_loss: the derivative of its gradient is not implemented, as in torch. ",
        "Take the loss's gradient without create_graph.");
  }
};

struct CtcLossBackward : autograd::Node {
  autograd::SavedVariable log_probs{this};
  autograd::SavedVariable alpha{this};
  autograd::SavedVariable loss{this};
  std::shared_ptr<const CtcProblem> problem;
  std::string name() const override { return "CtcLossBackward0"; }
  GradList apply(GradList&& grads) override {
    if (!grads[0].defined()) return GradList(1);
    const Variable x = log_probs.unpack();
    NdArray dx = NdArray::empty(x.sizes(), x.dtype(), x.device());
    kernels::ctc_loss_backward(x.device(), dx, ops::contiguous_array(grads[0].array()),
                               alpha.unpack().array(), loss.unpack().array(),
                               ops::contiguous_array(x.array()), *problem);
    return {
        ops::record<CtcLossBackwardBackward>(std::move(dx), [](CtcLossBackwardBackward&) {}, grads[0], x)};
  }
};

// Sets the start of each sample's target, and the number of states of the longest target.
void set_target_starts(CtcProblem& p, const Variable& targets, IntArrayRef lengths) {
  const std::int64_t longest = lengths.empty() ? 0 : *std::max_element(lengths.begin(), lengths.end());
  std::int64_t total = 0;
  for (std::size_t n = 0; n < lengths.size(); ++n) {
    EBB_CHECK(lengths[n] >= 0, "ctc_loss: Expected target_lengths to have value at least 0, but got value ",
              lengths[n], ".");
    p.starts.push_back(targets.dim() == 1 ? total : static_cast<std::int64_t>(n) * targets.size(1));
    total += lengths[n];
  }
  p.states = 2 * longest + 1;
  if (targets.dim() == 1) {
    EBB_CHECK(targets.size(0) == total,
              "ctc_loss: concatenated targets must have sum(target_lengths) = ", total, " elements, but got ",
              targets.size(0), ".");
    return;
  }
  EBB_CHECK(targets.dim() == 2 && targets.size(0) == p.batch && targets.size(1) >= longest,
            "ctc_loss: expected targets (", p.batch, ", at least ", longest,
            ") or concatenated targets of one dimension, got shape ", targets.sizes(), ".");
}

// Returns the lengths on the host.
std::vector<std::int64_t> lengths_of(const char* name, const Variable& lengths) {
  EBB_CHECK(lengths.defined() && (lengths.dtype() == kLong || lengths.dtype() == kInt), "ctc_loss: ", name,
            " must be integral (Long or Int).");
  NoGradGuard no_grad;
  const Variable host = lengths.to(Device(kCPU), kLong).contiguous();
  detail::host_access(host.array());
  const auto* const values = host.array().address_as<std::int64_t>();
  return {values, values + host.numel()};
}

}  // namespace

Variable ctc_loss(const Variable& log_probs, const Variable& targets, IntArrayRef input_lengths,
                  IntArrayRef target_lengths, std::int64_t blank, std::int64_t reduction,
                  bool zero_infinity) {
  EBB_AUTOCAST(ctc_loss, log_probs, targets, input_lengths, target_lengths, blank, reduction, zero_infinity);
  const char* op = "ctc_loss";
  ops::common_device(op, log_probs, targets);
  ops::check_reduction(op, reduction);
  EBB_CHECK(log_probs.dtype() == kFloat || log_probs.dtype() == kDouble, op,
            ": expected log_probs in Float or Double, got ", log_probs.dtype(),
            ". Convert it with .to(ebb::kFloat).");
  EBB_CHECK(log_probs.dim() == 2 || log_probs.dim() == 3, op,
            ": expected log_probs (T, N, C) or (T, C), got shape ", log_probs.sizes(), ".");
  EBB_CHECK(targets.defined() && (targets.dtype() == kLong || targets.dtype() == kInt), op,
            ": expected targets in Long or Int, got ",
            targets.defined() ? to_string(targets.dtype()) : "none", ".");
  const bool batched = log_probs.dim() == 3;
  auto problem = std::make_shared<CtcProblem>();
  CtcProblem& p = *problem;
  p.steps = log_probs.size(0);
  p.batch = batched ? log_probs.size(1) : 1;
  p.classes = log_probs.size(-1);
  p.blank = blank;
  p.zero_infinity = zero_infinity;
  p.mean = reduction == Reduction::Mean;
  EBB_CHECK(blank >= 0 && blank < p.classes, op, ": blank must be in label range, from 0 to ", p.classes - 1,
            ", got ", blank, ".");
  const auto batch = static_cast<std::size_t>(p.batch);
  EBB_CHECK(input_lengths.size() == batch && target_lengths.size() == batch, op,
            ": input_lengths and target_lengths must be of size batch_size, ", p.batch, ", got ",
            input_lengths, " and ", target_lengths, ".");
  for (const std::int64_t n : input_lengths)
    EBB_CHECK(n >= 0 && n <= p.steps, op, ": Expected input_lengths to have value at most ", p.steps,
              ", but got value ", n, ".");
  set_target_starts(p, targets, target_lengths);
  p.input_lengths = input_lengths.vec();
  p.target_lengths = target_lengths.vec();
  p.targets = ops::contiguous_array(targets.array(), {kLong});

  const Variable x = batched ? log_probs : log_probs.unsqueeze(1);
  NdArray alpha = NdArray::empty({p.batch, p.steps, p.states}, kDouble, x.device());
  NdArray loss = NdArray::empty({p.batch}, kDouble, x.device());
  NdArray out = NdArray::empty({p.batch}, x.dtype(), x.device());
  kernels::ctc_loss(x.device(), out, alpha, loss, ops::contiguous_array(x.array()), p);
  const Variable losses = ops::record<CtcLossBackward>(
      std::move(out),
      [&](CtcLossBackward& node) {
        node.log_probs.save(x);
        node.alpha.save(Variable(alpha));
        node.loss.save(Variable(loss));
        node.problem = problem;
      },
      x);
  if (reduction != Reduction::None) return ops::reduce_loss(losses, reduction);
  return batched ? losses : losses.squeeze(0);
}

Variable ctc_loss(const Variable& log_probs, const Variable& targets, const Variable& input_lengths,
                  const Variable& target_lengths, std::int64_t blank, std::int64_t reduction,
                  bool zero_infinity) {
  return ctc_loss(log_probs, targets, lengths_of("input_lengths", input_lengths),
                  lengths_of("target_lengths", target_lengths), blank, reduction, zero_infinity);
}

}  // namespace ebb
