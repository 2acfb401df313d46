// ctc_loss on the CPU: one thread for each sample.
#include <ebb/core/visit.h>

#include "core/parallel_for.h"
#include "ops/loss/ctc.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace ebb::cpu {
namespace {

void check_labels(const kernels::CtcProblem& p) {
  const auto* const labels = p.targets.address_as<std::int64_t>();
  for (std::size_t n = 0; n < p.starts.size(); ++n)
    for (std::int64_t i = 0; i < p.target_lengths[n]; ++i) {
      const std::int64_t label = labels[p.starts[n] + i];
      EBB_CHECK_INDEX(label >= 0 && label < p.classes, "ctc_loss: label ", label,
                      " of a target is out of bounds for ", p.classes, " classes.");
    }
}

template <class Body>
void for_samples(const kernels::CtcProblem& p, Body&& body) {
  const std::int64_t work = std::max<std::int64_t>(1, p.steps * p.states * 16);
  parallel_for(0, p.batch, std::max<std::int64_t>(1, kGrain / work), [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t n = from; n < to; ++n) body(n);
  });
}

}  // namespace

void ctc_loss(NdArray& out, NdArray& alpha, NdArray& loss, const NdArray& x, const kernels::CtcProblem& p) {
  check_labels(p);
  visit_float_double(x.dtype(), "ctc_loss", [&]<class C> {
    for_samples(p, [&](std::int64_t n) {
      const ctc::Sample<C> sample = p.sample(x.address_as<C>(), n);
      double* const rows = alpha.address_as<double>() + n * p.steps * p.states;
      const auto row = [&](std::int64_t t) { return rows + std::max<std::int64_t>(t, 0) * p.states; };
      for (std::int64_t t = 0; t < sample.steps; ++t)
        for (std::int64_t s = 0; s < sample.states(); ++s) row(t)[s] = sample.alpha(row(t - 1), t, s);
      const double value = sample.loss(row(sample.steps - 1));
      loss.address_as<double>()[n] = value;
      const C shown = static_cast<C>(p.zero_infinity && std::isinf(value) ? 0 : value);
      out.address_as<C>()[n] =
          p.mean ? shown / static_cast<C>(std::max<std::int64_t>(sample.length, 1)) : shown;
    });
  });
}

void ctc_loss_backward(NdArray& dx, const NdArray& grad, const NdArray& alpha, const NdArray& loss,
                       const NdArray& x, const kernels::CtcProblem& p) {
  visit_float_double(x.dtype(), "ctc_loss_backward", [&]<class C> {
    C* const to = dx.address_as<C>();
    std::fill(to, to + dx.numel(), C(0));
    for_samples(p, [&](std::int64_t n) {
      const ctc::Sample<C> sample = p.sample(x.address_as<C>(), n);
      const double value = loss.address_as<double>()[n];
      if (p.zero_infinity && std::isinf(value)) return;
      C g = grad.address_as<C>()[n];
      if (p.mean) g /= static_cast<C>(std::max<std::int64_t>(sample.length, 1));
      if (std::isinf(value)) g = std::numeric_limits<C>::quiet_NaN();  // the target has no alignment
      std::vector<double> after(static_cast<std::size_t>(p.states)), beta(after);
      for (std::int64_t t = sample.steps; t-- > 0; std::swap(after, beta)) {
        const double* const ways = alpha.address_as<double>() + (n * p.steps + t) * p.states;
        const std::int64_t at = (t * p.batch + n) * p.classes;
        for (std::int64_t c = 0; c < p.classes; ++c) to[at + c] = std::exp(x.address_as<C>()[at + c]) * g;
        for (std::int64_t s = 0; s < sample.states(); ++s) {
          const double b = sample.beta(after.data(), t, s);
          beta[static_cast<std::size_t>(s)] = b;
          to[at + sample.label(s)] -= static_cast<C>(sample.posterior(ways[s], b, value, t, s)) * g;
        }
      }
    });
  });
}

}  // namespace ebb::cpu
