// Cross-entropy on the device: one read of the scores for the loss, one read and one write for the gradient.
//
// With v_c the weight of class c in a row's loss (of the target's class; with smoothing of all; or the
// target's probabilities), the loss is sum_c v_c (logsum - x_c) = W logsum - sum_c v_c x_c with W = sum_c
// v_c, and its gradient W softmax_c - v_c.
#include <ebb/core/visit.h>

#include "kernel/cuda/map.h"
#include "kernel/cuda/reduce.h"
#include "kernel/cuda/team.h"
#include "ops/loss/cuda.h"
#include "ops/loss/cuda_targets.h"

namespace ebb::cuda {
namespace {

using kernels::ClassTargets;

/// sum exp(x - top) of the numbers so far, and their largest.
template <class C>
struct LogSum {
  C top, sum;

  __device__ static C factor(C from, C to) { return from == to ? C(1) : std::exp(from - to); }
  template <int V>
  __device__ void add(const C (&x)[V]) {
    C most = top;
#pragma unroll
    for (int i = 0; i < V; ++i) most = x[i] > most ? x[i] : most;
    sum *= factor(top, most);
    top = most;
#pragma unroll
    for (int i = 0; i < V; ++i) sum += x[i] == C(-INFINITY) ? C(0) : std::exp(x[i] - top);
  }
  __device__ LogSum merged(const LogSum& other) const {
    const C most = top > other.top ? top : other.top;
    return {most, sum * factor(top, most) + other.sum * factor(other.top, most)};
  }
  /// NaN for a row with an infinite maximum, as the difference of infinities gives on the CPU.
  __device__ C value() const { return top + (top - top) + std::log(sum); }
};

/// v, as far as it does not depend on the target's class: `flat` w_c, plus `share` of a probability times
/// w_c.
template <class T>
struct Terms {
  using C = Compute<T>;
  const T* soft;  // the target's probabilities, laid out as x; may be null
  const T* weight;
  C flat, share;

  Terms(const ClassTargets& to)
      : soft(data_or_null<T>(to.probabilities)),
        weight(data_or_null<T>(to.weight)),
        flat(C(to.classes > 0 ? to.smoothing / static_cast<double>(to.classes) : 0)),
        share(C(1 - to.smoothing)) {}
  __device__ bool any() const { return soft || flat != C(0); }
  __device__ C of(std::int64_t at, std::int64_t c) const {
    const C w = weight ? static_cast<C>(weight[c]) : C(1);
    return ((soft ? share * static_cast<C>(soft[at]) : C(0)) + flat) * w;
  }
};

template <class T>
struct ForwardArgs {
  using C = Compute<T>;
  const T* x;
  C *logsum, *total;  // of each row: log sum exp, W
  C* loss;
  Lines lines;
  ClassTarget<T> targets;
  Terms<T> terms;
};

template <class T, class Team, int V>
__global__ void cross_entropy_kernel(const __grid_constant__ ForwardArgs<T> args) {
  using C = Compute<T>;
  const Team team(args.lines);
  const std::int64_t start = team.active ? args.lines.start(team.line) : 0, n = args.lines.n;
  const bool terms = args.terms.any();
  LogSum<C> seen{C(-INFINITY), C(0)};
  C weights = 0, weighted = 0;
  if (team.active)
    for (std::int64_t c = static_cast<std::int64_t>(team.rank) * V; c < n;
         c += static_cast<std::int64_t>(team.size) * V) {
      const std::int64_t at = start + c * team.stride;
      const Vector<T, V> loaded = *reinterpret_cast<const Vector<T, V>*>(args.x + at);
      C x[V];
#pragma unroll
      for (int i = 0; i < V; ++i) x[i] = static_cast<C>(loaded.at[i]);
      seen.add(x);
      if (terms) {
#pragma unroll
        for (int i = 0; i < V; ++i) {
          const C v = args.terms.of(at + i, c + i);
          weights += v;
          weighted += v * x[i];
        }
      }
    }
  seen = team.reduce(seen, [](const LogSum<C>& a, const LogSum<C>& b) { return a.merged(b); });
  if (terms) {
    weights = team.reduce(weights, Plus());
    weighted = team.reduce(weighted, Plus());
  }
  if (!team.active || team.rank != 0) return;
  const C logsum = seen.value();
  C loss = terms ? weights * logsum - weighted : C(0);
  if (args.targets.target) {
    const std::int64_t t = args.targets.checked(args.targets.target[team.line]);
    const C own = args.terms.share * args.targets.weight_of(t);
    weights = t < 0 ? C(0) : weights + own;
    loss = t < 0 ? C(0) : loss + own * (logsum - static_cast<C>(args.x[start + t * team.stride]));
  }
  args.loss[team.line] = loss;
  args.logsum[team.line] = logsum;
  args.total[team.line] = weights;
}

/// The losses of the rows, put together.
template <class T>
struct LossTotal {
  using In = Compute<T>;
  using Acc = LossAndWeight;
  ClassTarget<T> targets;
  T* out;         // a place each, or the sum alone
  double* total;  // of the weights
  bool reduced, mean;

  __device__ Acc identity() const { return {0, 0}; }
  __device__ Acc load(In loss, std::int64_t, std::int64_t i) const {
    if (!reduced) out[i] = static_cast<T>(loss);
    if (!targets.target) return {static_cast<double>(loss), 1};
    const std::int64_t t = targets.target[i];
    const bool counts = t != targets.ignore_index && t >= 0 && t < targets.classes;
    return {static_cast<double>(loss), counts ? static_cast<double>(targets.weight_of(t)) : 0};
  }
  __device__ Acc merge(Acc a, Acc b) const { return {a.loss + b.loss, a.weight + b.weight}; }
  __device__ void store(std::int64_t, Acc sum) const {
    *total = sum.weight;
    if (reduced) *out = static_cast<T>(static_cast<In>(mean ? sum.loss / sum.weight : sum.loss));
  }
};

template <class T>
struct BackwardArgs {
  using C = Compute<T>;
  T* dx;
  const T* x;
  const C *logsum, *total;
  Lines lines;
  ClassGradFactor<T> factor;
  ClassTarget<T> targets;
  Terms<T> terms;
};

template <class T, class Team, int V>
__global__ void cross_entropy_backward_kernel(const __grid_constant__ BackwardArgs<T> args) {
  using C = Compute<T>;
  const Team team(args.lines);
  if (!team.active) return;
  const std::int64_t start = args.lines.start(team.line), n = args.lines.n;
  const bool hard = args.targets.target, terms = args.terms.any();
  const std::int64_t t = hard ? args.targets.checked(args.targets.target[team.line]) : -1;
  const bool ignored = hard && t < 0;
  const C f = ignored ? C(0) : args.factor.of(team.line);
  const C logsum = args.logsum[team.line], total = args.total[team.line];
  const C own = args.terms.share * args.targets.weight_of(t);
  for (std::int64_t c = static_cast<std::int64_t>(team.rank) * V; c < n;
       c += static_cast<std::int64_t>(team.size) * V) {
    const std::int64_t at = start + c * team.stride;
    const Vector<T, V> loaded = *reinterpret_cast<const Vector<T, V>*>(args.x + at);
    Vector<T, V> out;
#pragma unroll
    for (int i = 0; i < V; ++i) {
      C v = terms ? args.terms.of(at + i, c + i) : C(0);
      if (c + i == t) v += own;
      const C g = f * (total * std::exp(static_cast<C>(loaded.at[i]) - logsum) - v);
      out.at[i] = ignored ? T(0) : static_cast<T>(g);
    }
    *reinterpret_cast<Vector<T, V>*>(args.dx + at) = out;
  }
}

template <class T>
bool in_vectors(const Lines& lines, const void* x, const void* dx) {
  constexpr std::int64_t V = 16 / sizeof(T);
  return lines.n % V == 0 &&
         (reinterpret_cast<std::uintptr_t>(x) | reinterpret_cast<std::uintptr_t>(dx)) % 16 == 0;
}

/// Launches a kernel given for each way to take lines.
template <class Args>
void launch_lines(Device device, const Args& args, bool vectors, void (*by_vectors)(Args),
                  void (*by_rows)(Args), void (*by_columns)(Args)) {
  const Lines& lines = args.lines;
  if (lines.inner == 1)
    launch(device, {RowTeam::blocks(lines), RowTeam::threads(lines)}, vectors ? by_vectors : by_rows, args);
  else
    launch(device, {ColumnTeam::blocks(lines), ColumnTeam::threads(lines)}, by_columns, args);
}

Lines lines_of(const ClassTargets& to) { return Lines({to.batch, to.classes, to.places}, 1); }

}  // namespace

void cross_entropy(NdArray& out, NdArray& total, NdArray& kept, const NdArray& x, const ClassTargets& to) {
  const Lines lines = lines_of(to);
  visit_floating(x.dtype(), "cross_entropy_loss", [&]<class T> {
    using C = Compute<T>;
    constexpr int V = static_cast<int>(16 / sizeof(T));
    const ClassTarget<T> targets(to, fault_sink(x.device(), "cross_entropy_loss"));
    const NdArray loss =
        NdArray::empty({lines.count()}, out.dtype() == kDouble ? kDouble : kFloat, x.device());
    C* const logsum = kept.data_as<C>();
    if (lines.count() > 0) {
      const ForwardArgs<T> args{x.data_as<T>(), logsum,      logsum + lines.count(), loss.data_as<C>(), lines,
                                targets,        Terms<T>(to)};
      launch_lines(x.device(), args, in_vectors<T>(lines, x.data(), nullptr),
                   &cross_entropy_kernel<T, RowTeam, V>, &cross_entropy_kernel<T, RowTeam, 1>,
                   &cross_entropy_kernel<T, ColumnTeam, 1>);
    }
    const LossTotal<T> op{targets, out.data_as<T>(), total.data_as<double>(), to.reduced, to.mean};
    reduce(x.device(), op, loss, 1);
  });
}

void cross_entropy_backward(NdArray& dx, const NdArray& grad, const NdArray& total, const NdArray& kept,
                            const NdArray& x, const ClassTargets& to) {
  const Lines lines = lines_of(to);
  if (lines.count() == 0) return;
  visit_floating(x.dtype(), "cross_entropy_loss_backward", [&]<class T> {
    using C = Compute<T>;
    constexpr int V = static_cast<int>(16 / sizeof(T));
    const C* const logsum = kept.data_as<C>();
    const BackwardArgs<T> args{dx.data_as<T>(),
                               x.data_as<T>(),
                               logsum,
                               logsum + lines.count(),
                               lines,
                               ClassGradFactor<T>(grad, total, to),
                               ClassTarget<T>(to, fault_sink(x.device(), "cross_entropy_loss_backward")),
                               Terms<T>(to)};
    launch_lines(x.device(), args, in_vectors<T>(lines, x.data(), dx.data()),
                 &cross_entropy_backward_kernel<T, RowTeam, V>, &cross_entropy_backward_kernel<T, RowTeam, 1>,
                 &cross_entropy_backward_kernel<T, ColumnTeam, 1>);
  });
}

}  // namespace ebb::cuda
