// Connectionist temporal classification (Graves et al. 2006): its recurrences, for host and device, and the
// kernel slots of ctc_loss.
#pragma once

#include <ebb/core/half.h>
#include <ebb/core/ndarray.h>

#include "kernel/call/slot.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace ebb::ctc {

constexpr double kNone = -std::numeric_limits<double>::infinity();

EBB_HD inline double log_sum(double a, double b) {
  const double most = a > b ? a : b;
  if (most == kNone) return most;
  return most + std::log(std::exp(a - most) + std::exp(b - most));
}

/// One sample: its log-probabilities `x` and its `target`. Sums of log-probabilities over the steps are
/// doubles. The states of an alignment are the labels with blanks around them: blank, label 0, blank, label
/// 1, ..., blank.
template <class C>
struct Sample {
  const C* x;  // points to the sample's first step
  const std::int64_t* target;
  std::int64_t steps, length, step, blank;  // `step` is the stride of x between steps

  EBB_HD std::int64_t states() const { return 2 * length + 1; }
  EBB_HD std::int64_t label(std::int64_t s) const { return s % 2 ? target[s / 2] : blank; }
  EBB_HD double log_prob(std::int64_t t, std::int64_t s) const { return x[t * step + label(s)]; }
  /// Returns whether an alignment may go from state s - 2 to state s. Between equal labels the alignment must
  /// contain the blank.
  EBB_HD bool skips(std::int64_t s) const { return s % 2 && s > 1 && target[s / 2] != target[s / 2 - 1]; }

  /// Returns the log-probability of all paths to state s at step t. `before` contains alpha of the previous
  /// step.
  EBB_HD double alpha(const double* before, std::int64_t t, std::int64_t s) const {
    if (t == 0) return s < 2 ? log_prob(0, s) : kNone;
    double ways = before[s];
    if (s > 0) ways = log_sum(ways, before[s - 1]);
    if (skips(s)) ways = log_sum(ways, before[s - 2]);
    return ways + log_prob(t, s);
  }
  /// Returns the log-probability of all paths from state s at step t to the end. `after` contains beta of the
  /// next step.
  EBB_HD double beta(const double* after, std::int64_t t, std::int64_t s) const {
    if (t == steps - 1) return s + 2 >= states() ? log_prob(t, s) : kNone;
    double ways = after[s];
    if (s + 1 < states()) ways = log_sum(ways, after[s + 1]);
    if (s + 2 < states() && skips(s + 2)) ways = log_sum(ways, after[s + 2]);
    return ways + log_prob(t, s);
  }
  /// Returns -log of the target's probability. `last` contains alpha of the last step.
  EBB_HD double loss(const double* last) const {
    if (steps == 0) return length == 0 ? 0. : -kNone;
    const double end = last[states() - 1];
    return -(length > 0 ? log_sum(end, last[states() - 2]) : end);
  }
  /// Returns the probability of state s at step t, given the target sequence.
  EBB_HD double posterior(double alpha, double beta, double loss, std::int64_t t, std::int64_t s) const {
    return alpha == kNone || beta == kNone ? 0. : std::exp(alpha + beta - log_prob(t, s) + loss);
  }
};

}  // namespace ebb::ctc

namespace ebb::kernels {

/// A batch of sequences and targets. Lengths and starts are on the host: they are arguments of the kernel
/// launches, so they need no copy to the device.
struct CtcProblem {
  std::int64_t steps = 0, batch = 0, classes = 0, blank = 0;
  std::int64_t states = 1;  // the number of states of the longest target
  bool zero_infinity = false, mean = false;
  NdArray targets;  // Long, contiguous
  std::vector<std::int64_t> input_lengths, target_lengths;
  std::vector<std::int64_t> starts;  // the offset of each sample's target

  template <class C>
  ctc::Sample<C> sample(const C* x, std::int64_t n) const {
    const auto i = static_cast<std::size_t>(n);
    return {x + n * classes,  targets.address_as<std::int64_t>() + starts[i],
            input_lengths[i], target_lengths[i],
            batch * classes,  blank};
  }
};

}  // namespace ebb::kernels

namespace ebb::cpu {

/// Computes out[n], the loss of sample n. For a mean, out[n] is divided by the length of the target. With
/// zero_infinity, an infinite loss becomes 0. `alpha` (batch, steps, states) and `loss` (batch), of Double,
/// are saved for the gradient. x is (steps, batch, classes), Float or Double; `out` has the same dtype.
void ctc_loss(NdArray& out, NdArray& alpha, NdArray& loss, const NdArray& x,
              const kernels::CtcProblem& problem);
/// Computes dx = grad[n] (exp(x) - the posterior of each class), and 0 for steps beyond the length of a
/// sample.
void ctc_loss_backward(NdArray& dx, const NdArray& grad, const NdArray& alpha, const NdArray& loss,
                       const NdArray& x, const kernels::CtcProblem& problem);

}  // namespace ebb::cpu

#define EBB_CTC_KERNELS(X) \
  X(ctc_loss, "ctc_loss"); \
  X(ctc_loss_backward, "ctc_loss_backward");
EBB_DECLARE_KERNELS(EBB_CTC_KERNELS)
