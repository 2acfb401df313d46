// The recurrences of connectionist temporal classification, for host and device (Graves et al. 2006).
#pragma once

#include <ebb/core/half.h>

#include <cmath>
#include <cstdint>
#include <limits>

namespace ebb::ctc {

template <class C>
EBB_HD C log_sum(C a, C b) {
  const C most = a > b ? a : b;
  if (most == -std::numeric_limits<C>::infinity()) return most;
  return most + std::log(std::exp(a - most) + std::exp(b - most));
}

/// One sample: its log-probabilities, and its target, whose labels and the blanks around them are the states
/// of the alignments: blank, label 0, blank, label 1, ..., blank.
template <class C>
struct Sample {
  const C* x;  // of its first step
  const std::int64_t* target;
  std::int64_t steps, length, step, blank;  // `step` elements from one step of x to the next

  EBB_HD std::int64_t states() const { return 2 * length + 1; }
  EBB_HD std::int64_t label(std::int64_t s) const { return s % 2 ? target[s / 2] : blank; }
  EBB_HD C log_prob(std::int64_t t, std::int64_t s) const { return x[t * step + label(s)]; }
  /// Whether the alignment may go to state s from s - 2: a blank stands between equal labels.
  EBB_HD bool skips(std::int64_t s) const { return s % 2 && s > 1 && target[s / 2] != target[s / 2 - 1]; }

  /// log of the probability of all ways to state s at step t; `before` has those of the step before.
  EBB_HD C alpha(const C* before, std::int64_t t, std::int64_t s) const {
    const C none = -std::numeric_limits<C>::infinity();
    if (t == 0) return s < 2 ? log_prob(0, s) : none;
    C ways = before[s];
    if (s > 0) ways = log_sum(ways, before[s - 1]);
    if (skips(s)) ways = log_sum(ways, before[s - 2]);
    return ways + log_prob(t, s);
  }
  /// The same from state s at step t to the end; `after` has those of the step after.
  EBB_HD C beta(const C* after, std::int64_t t, std::int64_t s) const {
    const C none = -std::numeric_limits<C>::infinity();
    if (t == steps - 1) return s + 2 >= states() ? log_prob(t, s) : none;
    C ways = after[s];
    if (s + 1 < states()) ways = log_sum(ways, after[s + 1]);
    if (s + 2 < states() && skips(s + 2)) ways = log_sum(ways, after[s + 2]);
    return ways + log_prob(t, s);
  }
  /// -log of the probability of the target; `last` has the alphas of the last step.
  EBB_HD C loss(const C* last) const {
    if (steps == 0) return length == 0 ? C(0) : std::numeric_limits<C>::infinity();
    const C end = last[states() - 1];
    return -(length > 0 ? log_sum(end, last[states() - 2]) : end);
  }
  /// How probable state s at step t is, given the target.
  EBB_HD C posterior(C alpha, C beta, C loss, std::int64_t t, std::int64_t s) const {
    const C none = -std::numeric_limits<C>::infinity();
    return alpha == none || beta == none ? C(0) : std::exp(alpha + beta - log_prob(t, s) + loss);
  }
};

}  // namespace ebb::ctc
