// cross_entropy_loss on the device. The forward pass reads the scores once; the backward pass reads them once
// and writes the gradient once.
//
// Let v_c be the weight of class c in the loss of a row. With smoothing, v_c is nonzero for all classes;
// without it, only for the target's class. If the target contains probabilities, they determine v_c (see
// Terms). The loss is sum_c v_c (logsum - x_c) = W logsum - sum_c v_c x_c with W = sum_c v_c. Its gradient is
// W softmax_c - v_c.
#include <ebb/core/visit.h>

#include "kernel/cuda/log_sum.h"
#include "kernel/cuda/map.h"
#include "kernel/cuda/reduce.h"
#include "kernel/cuda/row.h"
#include "ops/loss/cuda_targets.h"
#include "ops/loss/kernels.h"

namespace ebb::cuda {
namespace {

using kernels::ClassTargets;

// The number of vectors that a thread loads together, and the number of blocks of a multiprocessor. Registers
// limit both.
template <bool kTerms>
constexpr int kLoads = kTerms ? 2 : 4;
template <class T, bool kTerms>
constexpr int kBlocks = kTerms || sizeof(T) == 8 ? 1 : 2;

/// The part of v that does not depend on the target's class: flat * w_c + share * p_c * w_c, where p_c is the
/// target's probability of class c.
template <class T>
struct Terms {
  using C = Compute<T>;
  const T* soft;  // the target's probabilities, with the layout of x; may be null
  const T* weight;
  C flat, share;

  Terms(const ClassTargets& to)
      : soft(data_or_null<T>(to.probabilities)),
        weight(data_or_null<T>(to.weight)),
        flat(C(to.classes > 0 ? to.smoothing / static_cast<double>(to.classes) : 0)),
        share(C(1 - to.smoothing)) {}
  bool any() const { return soft || flat != C(0); }
  /// Returns v for class c, whose probability in the target is p.
  __device__ C of(T p, std::int64_t c) const {
    const C w = weight ? static_cast<C>(weight[c]) : C(1);
    return (share * static_cast<C>(p) + flat) * w;
  }
  /// Loads the target's probabilities for a part of a row, or returns zeros if there are none.
  template <int V, int N>
  __device__ Groups<T, V, N> load(std::int64_t start, std::int64_t stride, const Span& span) const {
    if (soft) return load_groups<V, N>(soft + start, stride, span, T(0));
    return {};
  }
};

template <class T>
struct ForwardArgs {
  using C = Compute<T>;
  const T* x;
  C *logsum, *total;  // for each row: log sum exp, and W
  C* loss;
  Lines lines;
  bool vectors;
  ClassTarget<T> targets;
  Terms<T> terms;
};

template <class T, class Team, bool kTerms>
__global__ void __launch_bounds__(kKeptThreads, (kBlocks<T, kTerms>))
    cross_entropy_kernel(const __grid_constant__ ForwardArgs<T> args) {
  using C = Compute<T>;
  const Team team(args.lines);
  const std::int64_t start = team.active ? args.lines.start(team.line) : 0;
  const T* const line = args.x + start;
  const bool first = team.active && team.rank == 0, hard = first && args.targets.target;
  const std::int64_t given = hard ? args.targets.target[team.line] : -1;
  LogSum<T> seen = LogSum<T>::none();
  C weights = 0, weighted = 0;
  if (team.active)
    take_line<kLoads<kTerms>>(team, line, args.vectors, args.lines.n, [&]<int V, int N>(const Span& span) {
      const auto x = load_groups<V, N>(line, team.stride, span, static_cast<T>(C(-INFINITY)));
      if constexpr (kTerms) {
        const auto p = args.terms.template load<V, N>(start, team.stride, span);
#pragma unroll
        for (int u = 0; u < N; ++u) {
          if (!span.has(u)) continue;
#pragma unroll
          for (int j = 0; j < V; ++j) {
            const C v = args.terms.of(p.at[u].at[j], span.at(u) + j);
            weights += v;
            weighted += v * static_cast<C>(x.at[u].at[j]);
          }
        }
      }
      C values[N * V];
#pragma unroll
      for (int i = 0; i < N * V; ++i) values[i] = static_cast<C>(x.at[i / V].at[i % V]);
      seen.take(values);
    });
  // The score of the target's class is loaded while the thread group reduces its sums.
  const std::int64_t t = hard ? args.targets.checked(given) : -1;
  const C own = args.terms.share * args.targets.weight_of(t);
  const C score = t < 0 ? C(0) : static_cast<C>(line[t * team.stride]);
  seen = team.reduce(seen, typename LogSum<T>::Merge());
  if constexpr (kTerms) {
    weights = team.reduce(weights, Plus());
    weighted = team.reduce(weighted, Plus());
  }
  if (!first) return;
  const C logsum = seen.top + std::log(seen.sum);
  C loss = kTerms ? weights * logsum - weighted : C(0);
  if (hard) {
    weights = t < 0 ? C(0) : weights + own;
    loss = t < 0 ? C(0) : loss + own * (logsum - score);
  }
  args.loss[team.line] = loss;
  args.logsum[team.line] = logsum;
  args.total[team.line] = weights;
}

/// Reduces the losses of all rows.
template <class T>
struct LossTotal {
  using In = Compute<T>;
  using Acc = LossAndWeight;
  ClassTarget<T> targets;
  T* out;         // one element for each position, or only the sum
  double* total;  // the sum of the used weights
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
  bool vectors;
  ClassGradFactor<T> factor;
  ClassTarget<T> targets;
  Terms<T> terms;
};

template <class T, class Team, bool kTerms>
__global__ void __launch_bounds__(kKeptThreads, (kBlocks<T, kTerms>))
    cross_entropy_backward_kernel(const __grid_constant__ BackwardArgs<T> args) {
  using C = Compute<T>;
  const Team team(args.lines);
  const std::int64_t line = team.active ? team.line : 0, start = args.lines.start(line);
  const bool hard = args.targets.target;
  const std::int64_t t = hard ? args.targets.checked(args.targets.target[line]) : -1;
  const bool ignored = hard && t < 0;
  const C f = ignored ? C(0) : args.factor.of(line);
  const C logsum = args.logsum[line], total = args.total[line];
  const C own = args.terms.share * args.targets.weight_of(t);
  const T* const from = args.x + start;
  T* const to = args.dx + start;
  // For a class with probability over 1/2 (the leader), W softmax_c - v_c loses digits by cancellation. The
  // gradients of a row add up to 0, so the gradient of this class is minus the sum of the other gradients.
  C others = 0;
  std::int64_t leader = -1;
  if (team.active)
    take_line<kLoads<kTerms>>(team, from, args.vectors, args.lines.n, [&]<int V, int N>(const Span& span) {
      if (ignored) {  // writes 0 even if a score is NaN
#pragma unroll
        for (int u = 0; u < N; ++u)
          if (span.has(u)) store_vector(to + span.at(u) * team.stride, Vector<T, V>{});
        return;
      }
      const auto x = load_groups<V, N>(from, team.stride, span, T(0));
      [[maybe_unused]] Groups<T, V, N> p;
      if constexpr (kTerms) p = args.terms.template load<V, N>(start, team.stride, span);
#pragma unroll
      for (int u = 0; u < N; ++u) {
        if (!span.has(u)) continue;
        const std::int64_t c = span.at(u), distance = t - c;
        const int own_at = distance >= 0 && distance < V ? static_cast<int>(distance) : -1;
        Vector<T, V> out;
#pragma unroll
        for (int j = 0; j < V; ++j) {
          C v = 0;
          if constexpr (kTerms) v = args.terms.of(p.at[u].at[j], c + j);
          if (j == own_at) v += own;
          const C share = std::exp(static_cast<C>(x.at[u].at[j]) - logsum),
                  derivative = f * (total * share - v);
          if (share > C(0.5))
            leader = c + j;
          else
            others += derivative;
          out.at[j] = static_cast<T>(derivative);
        }
        store_vector(to + c * team.stride, out);
      }
    });
  others = team.reduce(others, Plus());
  if (leader >= 0) to[leader * team.stride] = static_cast<T>(0 - others);
}

/// Returns whether the rows of x, and of the arrays with the same layout, are loaded in vectors. Short rows
/// must consist of whole vectors, because the single elements at their ends would cost more than the vectors
/// save.
template <class T>
bool in_vectors(const Lines& lines, const void* x, const void* p, const void* dx) {
  const auto alike = [&](const void* other) { return !other || streams_with(x, other); };
  return alike(p) && alike(dx) && (lines.n >= 256 || rows_are_vectors<T>(lines.n, x));
}

/// Launches by_rows if the lines are contiguous (inner == 1), otherwise by_columns.
template <class T, class Args>
void launch_lines(Device device, const Args& args, void (*by_rows)(Args), void (*by_columns)(Args)) {
  const Lines& lines = args.lines;
  if (lines.inner == 1)
    launch(device,
           row_grid(lines, args.vectors ? kLoads<false> * kVectorWidth<T> : kSingleLoads, kKeptThreads),
           by_rows, args);
  else
    launch(device, {ColumnTeam::blocks(lines), ColumnTeam::threads(lines)}, by_columns, args);
}

Lines lines_of(const ClassTargets& to) { return Lines({to.batch, to.classes, to.places}, 1); }

}  // namespace

void cross_entropy(NdArray& out, NdArray& total, NdArray& kept, const NdArray& x, const ClassTargets& to) {
  const Lines lines = lines_of(to);
  visit_floating(x.dtype(), "cross_entropy_loss", [&]<class T> {
    using C = Compute<T>;
    const ClassTarget<T> targets(to, fault_sink(x.device(), "cross_entropy_loss"));
    const NdArray loss =
        NdArray::empty({lines.count()}, out.dtype() == kDouble ? kDouble : kFloat, x.device());
    C* const logsum = kept.address_as<C>();
    if (lines.count() > 0) {
      const Terms<T> terms(to);
      const ForwardArgs<T> args{x.address_as<T>(),
                                logsum,
                                logsum + lines.count(),
                                loss.address_as<C>(),
                                lines,
                                in_vectors<T>(lines, x.address(), terms.soft, nullptr),
                                targets,
                                terms};
      if (terms.any())
        launch_lines<T>(x.device(), args, &cross_entropy_kernel<T, RowTeam, true>,
                        &cross_entropy_kernel<T, ColumnTeam, true>);
      else
        launch_lines<T>(x.device(), args, &cross_entropy_kernel<T, RowTeam, false>,
                        &cross_entropy_kernel<T, ColumnTeam, false>);
    }
    const LossTotal<T> op{targets, out.address_as<T>(), total.address_as<double>(), to.reduced, to.mean};
    reduce(x.device(), op, loss, 1);
  });
}

void cross_entropy_backward(NdArray& dx, const NdArray& grad, const NdArray& total, const NdArray& kept,
                            const NdArray& x, const ClassTargets& to) {
  const Lines lines = lines_of(to);
  if (lines.count() == 0) return;
  visit_floating(x.dtype(), "cross_entropy_loss_backward", [&]<class T> {
    using C = Compute<T>;
    const C* const logsum = kept.address_as<C>();
    const Terms<T> terms(to);
    const BackwardArgs<T> args{dx.address_as<T>(),
                               x.address_as<T>(),
                               logsum,
                               logsum + lines.count(),
                               lines,
                               in_vectors<T>(lines, x.address(), terms.soft, dx.address()),
                               ClassGradFactor<T>(grad, total, to),
                               ClassTarget<T>(to, fault_sink(x.device(), "cross_entropy_loss_backward")),
                               terms};
    if (terms.any())
      launch_lines<T>(x.device(), args, &cross_entropy_backward_kernel<T, RowTeam, true>,
                      &cross_entropy_backward_kernel<T, ColumnTeam, true>);
    else
      launch_lines<T>(x.device(), args, &cross_entropy_backward_kernel<T, RowTeam, false>,
                      &cross_entropy_backward_kernel<T, ColumnTeam, false>);
  });
}

}  // namespace ebb::cuda
