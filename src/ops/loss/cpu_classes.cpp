// The CPU kernels nll_loss and cross_entropy.
#include <ebb/core/visit.h>

#include "core/parallel_for.h"
#include "kernel/cpu/convert_contiguous.h"
#include "kernel/cpu/exp.h"
#include "ops/loss/kernels.h"

#include <Eigen/Core>

#include <cmath>
#include <limits>
#include <vector>

namespace ebb::cpu {

namespace {

template <class T>
using Compute = std::conditional_t<is_half_v<T>, float, T>;

template <class T>
struct Targets {
  const std::int64_t* target;
  const T* weight;
  const kernels::ClassTargets& to;
  explicit Targets(const kernels::ClassTargets& targets)
      : target(targets.target.address_as<std::int64_t>()),
        weight(targets.weight.defined() ? targets.weight.address_as<T>() : nullptr),
        to(targets) {}
  /// Returns the class at position i, or -1 if it is ignored.
  std::int64_t operator[](std::int64_t i) const {
    const std::int64_t t = target[i];
    if (t == to.ignore_index) return -1;
    EBB_CHECK_INDEX(t >= 0 && t < to.classes, to.op, ": Target ", t, " is out of bounds for ", to.classes,
                    " classes, at ", place_of(i), " of the targets.");
    return t;
  }
  DimVector place_of(std::int64_t i) const {
    DimVector place(to.target.sizes());
    for (std::size_t d = place.size(); d-- > 0; i /= to.target.sizes()[d])
      place[d] = i % to.target.sizes()[d];
    return place;
  }
  Compute<T> weight_of(std::int64_t t) const {
    return t < 0 ? Compute<T>(0) : weight ? static_cast<Compute<T>>(weight[t]) : Compute<T>(1);
  }
};

/// Writes the loss of each position, or reduces the losses. The additions are in order, so the result does
/// not depend on the number of threads.
template <class T>
void finish(NdArray& out, NdArray& total, const std::vector<double>& losses, const Targets<T>& targets) {
  double weights = 0, sum = 0;
  for (std::size_t i = 0; i < losses.size(); ++i) {
    sum += losses[i];
    weights += targets.weight_of(targets[static_cast<std::int64_t>(i)]);
  }
  *total.address_as<double>() = weights;
  if (targets.to.reduced) {
    *out.address_as<T>() = static_cast<T>(static_cast<Compute<T>>(targets.to.mean ? sum / weights : sum));
  } else {
    for (std::size_t i = 0; i < losses.size(); ++i)
      out.address_as<T>()[i] = static_cast<T>(static_cast<Compute<T>>(losses[i]));
  }
}

/// The factor of one position's gradient: grad w_t, divided by the total of the weights for a mean.
template <class T>
struct Factors {
  const T* grad;
  const Targets<T>& targets;
  double scale;
  Factors(const NdArray& g, const NdArray& total, const Targets<T>& t)
      : grad(g.address_as<T>()),
        targets(t),
        scale(t.to.reduced && t.to.mean ? 1 / *total.address_as<double>() : 1.0) {}
  Compute<T> operator()(std::int64_t i, std::int64_t t) const {
    const auto g = static_cast<Compute<T>>(grad[targets.to.reduced ? 0 : i]);
    return static_cast<Compute<T>>(g * scale) * targets.weight_of(t);
  }
};

template <class C>
using Row = Eigen::Map<const Eigen::Array<C, Eigen::Dynamic, 1>>;

/// Returns the row as float or double. Converts 16-bit rows into `scratch`.
template <class T>
Row<Compute<T>> row_of(const T* data, std::int64_t n, std::vector<Compute<T>>& scratch) {
  if constexpr (is_half_v<T>) {
    scratch.resize(static_cast<std::size_t>(n));
    convert_contiguous(scratch.data(), data, n);
    return {scratch.data(), n};
  } else {
    return {data, n};
  }
}

}  // namespace

void nll_loss(NdArray& out, NdArray& total, const NdArray& x, const kernels::ClassTargets& to) {
  visit_floating(x.dtype(), "nll_loss", [&]<class T> {
    const Targets<T> targets(to);
    const T* const data = x.address_as<T>();
    std::vector<double> losses(static_cast<std::size_t>(to.batch * to.places));
    for (std::int64_t n = 0; n < to.batch; ++n)
      for (std::int64_t s = 0; s < to.places; ++s) {
        const std::int64_t i = n * to.places + s, t = targets[i];
        if (t >= 0)
          losses[static_cast<std::size_t>(i)] =
              -static_cast<Compute<T>>(data[(n * to.classes + t) * to.places + s]) * targets.weight_of(t);
      }
    finish(out, total, losses, targets);
  });
}

void nll_loss_backward(NdArray& dx, const NdArray& grad, const NdArray& total,
                       const kernels::ClassTargets& to) {
  visit_floating(dx.dtype(), "nll_loss_backward", [&]<class T> {
    const Targets<T> targets(to);
    const Factors<T> factor(grad, total, targets);
    T* const data = dx.address_as<T>();
    std::fill(data, data + dx.numel(), T(0));
    for (std::int64_t n = 0; n < to.batch; ++n)
      for (std::int64_t s = 0; s < to.places; ++s) {
        const std::int64_t i = n * to.places + s, t = targets[i];
        if (t >= 0) data[(n * to.classes + t) * to.places + s] = static_cast<T>(-factor(i, t));
      }
  });
}

void cross_entropy(NdArray& out, NdArray& total, NdArray& logsum, const NdArray& x,
                   const kernels::ClassTargets& to) {
  visit_floating(x.dtype(), "cross_entropy_loss", [&]<class T> {
    using C = Compute<T>;
    const Targets<T> targets(to);
    std::vector<double> losses(static_cast<std::size_t>(to.batch));
    parallel_for(0, to.batch, 1 + kGrain / (8 * (to.classes + 1)), [&](std::int64_t begin, std::int64_t end) {
      std::vector<C> scratch;
      Eigen::Array<C, Eigen::Dynamic, 1> powers;
      for (std::int64_t n = begin; n < end; ++n) {
        const auto row = row_of(x.address_as<T>() + n * to.classes, to.classes, scratch);
        const C top = to.classes > 0 ? row.template maxCoeff<Eigen::PropagateNaN>()
                                     : -std::numeric_limits<C>::infinity();
        // A row with an infinity yields NaN (inf - inf), as in torch.
        powers = (row - top).exp();
        C beyond = powers.sum();
        if (beyond < 2) {
          const std::int32_t ones = take_ones(powers.data(), to.classes);
          beyond = std::log1p(powers.sum() + static_cast<C>(ones - 1));
        } else {
          beyond = std::log(beyond);
        }
        logsum.address_as<C>()[n] = top + beyond;
        const std::int64_t t = targets[n];
        if (t >= 0) losses[static_cast<std::size_t>(n)] = ((top - row[t]) + beyond) * targets.weight_of(t);
      }
    });
    finish(out, total, losses, targets);
  });
}

void cross_entropy_backward(NdArray& dx, const NdArray& grad, const NdArray& total, const NdArray& logsum,
                            const NdArray& x, const kernels::ClassTargets& to) {
  visit_floating(x.dtype(), "cross_entropy_loss_backward", [&]<class T> {
    using C = Compute<T>;
    const Targets<T> targets(to);
    const Factors<T> factor(grad, total, targets);
    parallel_for(0, to.batch, 1 + kGrain / (8 * (to.classes + 1)), [&](std::int64_t begin, std::int64_t end) {
      std::vector<C> scratch;
      for (std::int64_t n = begin; n < end; ++n) {
        const auto row = row_of(x.address_as<T>() + n * to.classes, to.classes, scratch);
        T* const o = dx.address_as<T>() + n * to.classes;
        const std::int64_t t = targets[n];
        if (t < 0) {
          std::fill(o, o + to.classes, T(0));
          continue;
        }
        const C f = factor(n, t);
        const C log_sum = logsum.address_as<C>()[n];
        C* logit_grads;
        if constexpr (is_half_v<T>)
          logit_grads = scratch.data();
        else
          logit_grads = o;
        Eigen::Map<Eigen::Array<C, Eigen::Dynamic, 1>> all(logit_grads, to.classes);
        all = f * exp_of(row - log_sum);
        // If the probability p of the target's class is close to 1, p - 1 loses digits by cancellation. The
        // gradient of this class is then minus the sum of the other gradients.
        const bool sure = std::fabs(logit_grads[t]) > std::fabs(f) / 2;
        logit_grads[t] = sure ? C(0) : logit_grads[t] - f;
        if (sure) logit_grads[t] = -all.sum();
        if constexpr (is_half_v<T>) convert_contiguous(o, logit_grads, to.classes);
      }
    });
  });
}

}  // namespace ebb::cpu
