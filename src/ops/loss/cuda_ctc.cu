// ctc_loss on the device. One block for each sample iterates over the steps, and each thread processes some
// states.
#include <ebb/core/visit.h>

#include "kernel/cuda/block_reduce.h"
#include "kernel/cuda/fault.h"
#include "kernel/cuda/launch.h"
#include "ops/common/kernels.h"
#include "ops/loss/ctc.h"

#include <cmath>

namespace ebb::cuda {
namespace {

using kernels::CtcProblem;

constexpr int kSamples = 64;  // samples of one launch, whose lengths are kernel arguments
constexpr int kMostThreads = 256;

template <class C>
struct CtcArgs {
  const C *x, *grad;
  C *out, *dx;
  double *alpha, *loss, *beta;
  // Two values for each label i of a sample's target: links[2 i] is 1 if no earlier label equals it, and
  // links[2 i + 1] is the index of the next equal label.
  std::int64_t* links;
  const std::int64_t* targets;
  std::int64_t steps, batch, classes, blank, states, first;
  bool zero_infinity, mean;
  FaultSink faults;
  std::int64_t input_lengths[kSamples], target_lengths[kSamples], starts[kSamples];

  __device__ std::int64_t sample_number() const { return first + blockIdx.x; }
  __device__ ctc::Sample<C> sample() const {
    const unsigned i = blockIdx.x;
    return {x + sample_number() * classes,
            targets + starts[i],
            input_lengths[i],
            target_lengths[i],
            batch * classes,
            blank};
  }
  __device__ C scale(std::int64_t length) const {
    return mean ? C(1) / static_cast<C>(length > 0 ? length : 1) : C(1);
  }
};

// Returns whether all labels are classes, and reports a label that is not. All threads of the block must call
// it.
template <class C>
__device__ bool labels_are_valid(const CtcArgs<C>& args, const ctc::Sample<C>& sample) {
  __shared__ int bad;
  if (threadIdx.x == 0) bad = 0;
  __syncthreads();
  for (std::int64_t i = threadIdx.x; i < sample.length; i += blockDim.x)
    if (sample.target[i] < 0 || sample.target[i] >= args.classes) {
      args.faults.note(sample.target[i], args.classes);
      atomicExch(&bad, 1);
    }
  __syncthreads();
  return bad == 0;
}

template <class C>
__global__ void __launch_bounds__(kMostThreads) ctc_kernel(const __grid_constant__ CtcArgs<C> args) {
  const ctc::Sample<C> sample = args.sample();
  const std::int64_t n = args.sample_number();
  if (!labels_are_valid(args, sample)) return;
  double* const rows = args.alpha + n * args.steps * args.states;
  for (std::int64_t t = 0; t < sample.steps; ++t) {
    double* const row = rows + t * args.states;
    const double* const before = t > 0 ? row - args.states : row;
    for (std::int64_t s = threadIdx.x; s < sample.states(); s += blockDim.x)
      row[s] = sample.alpha(before, t, s);
    __syncthreads();
  }
  if (threadIdx.x != 0) return;
  const double value = sample.loss(rows + (sample.steps > 0 ? sample.steps - 1 : 0) * args.states);
  args.loss[n] = value;
  args.out[n] =
      args.zero_infinity && std::isinf(value) ? C(0) : static_cast<C>(value) * args.scale(sample.length);
}

template <class C>
__global__ void __launch_bounds__(kMostThreads) ctc_backward_kernel(const __grid_constant__ CtcArgs<C> args) {
  __shared__ double scratch[kMostThreads / kWarp];
  const ctc::Sample<C> sample = args.sample();
  const std::int64_t n = args.sample_number();
  const double value = args.loss[n];
  if (args.zero_infinity && std::isinf(value)) return;
  if (!labels_are_valid(args, sample)) return;
  // An infinite loss means that there is no alignment.
  const C g = std::isinf(value) ? static_cast<C>(NAN) : args.grad[n] * args.scale(sample.length);
  std::int64_t* const links = args.links + n * args.states;  // two for each label
  for (std::int64_t i = threadIdx.x; i < sample.length; i += blockDim.x) {
    std::int64_t before = i, after = i + 1;
    while (before > 0 && sample.target[before - 1] != sample.target[i]) --before;
    while (after < sample.length && sample.target[after] != sample.target[i]) ++after;
    links[2 * i] = before == 0;
    links[2 * i + 1] = after;
  }
  double* const betas = args.beta + n * 2 * args.states;
  for (std::int64_t t = sample.steps; t-- > 0;) {
    double* const row = betas + t % 2 * args.states;
    const double* const after = betas + (t + 1) % 2 * args.states;
    const double* const alpha = args.alpha + (n * args.steps + t) * args.states;
    const std::int64_t at = (t * args.batch + n) * args.classes;
    for (std::int64_t s = threadIdx.x; s < sample.states(); s += blockDim.x)
      row[s] = sample.beta(after, t, s);
    for (std::int64_t c = threadIdx.x; c < args.classes; c += blockDim.x)
      args.dx[at + c] = exp(args.x[at + c]) * g;
    __syncthreads();
    const auto posterior = [&](std::int64_t s) { return sample.posterior(alpha[s], row[s], value, t, s); };
    // If several labels are equal, the thread of the first of these labels sums the posteriors of all of
    // them, in order. The whole block sums the posteriors of the blanks.
    double blanks = 0;
    for (std::int64_t i = threadIdx.x; i <= sample.length; i += blockDim.x) {
      blanks += posterior(2 * i);
      if (i == sample.length || !links[2 * i]) continue;
      double sum = 0;
      for (std::int64_t j = i; j < sample.length; j = links[2 * j + 1]) sum += posterior(2 * j + 1);
      args.dx[at + sample.target[i]] -= static_cast<C>(sum) * g;
    }
    blanks =
        block_reduce(blanks, scratch, Plus(), static_cast<int>(threadIdx.x), static_cast<int>(blockDim.x));
    __syncthreads();  // a label may be the blank, whose gradient thread 0 updates next
    if (threadIdx.x == 0) args.dx[at + args.blank] -= static_cast<C>(blanks) * g;
  }
}

template <class C>
void launch_samples(Device device, CtcArgs<C> args, const CtcProblem& p, void (*kernel)(CtcArgs<C>)) {
  args.targets = p.targets.address_as<std::int64_t>();
  args.steps = p.steps;
  args.batch = p.batch;
  args.classes = p.classes;
  args.blank = p.blank;
  args.states = p.states;
  args.zero_infinity = p.zero_infinity;
  args.mean = p.mean;
  unsigned threads = kWarp;
  while (threads < kMostThreads && static_cast<std::int64_t>(threads) < p.states) threads *= 2;
  for (args.first = 0; args.first < p.batch; args.first += kSamples) {
    const std::int64_t count = p.batch - args.first < kSamples ? p.batch - args.first : kSamples;
    for (std::int64_t i = 0; i < count; ++i) {
      const auto from = static_cast<std::size_t>(args.first + i);
      args.input_lengths[i] = p.input_lengths[from];
      args.target_lengths[i] = p.target_lengths[from];
      args.starts[i] = p.starts[from];
    }
    launch(device, Grid{dim3(static_cast<unsigned>(count)), dim3(threads)}, kernel, args);
  }
}

}  // namespace

void ctc_loss(NdArray& out, NdArray& alpha, NdArray& loss, const NdArray& x, const CtcProblem& p) {
  visit_float_double(x.dtype(), "ctc_loss", [&]<class C> {
    CtcArgs<C> args{};
    args.x = x.address_as<C>();
    args.out = out.address_as<C>();
    args.alpha = alpha.address_as<double>();
    args.loss = loss.address_as<double>();
    args.faults = fault_sink(x.device(), "ctc_loss");
    launch_samples(x.device(), args, p, &ctc_kernel<C>);
  });
}

void ctc_loss_backward(NdArray& dx, const NdArray& grad, const NdArray& alpha, const NdArray& loss,
                       const NdArray& x, const CtcProblem& p) {
  const Device device = x.device();
  kernels::fill(device, dx, 0);
  NdArray beta = NdArray::empty({p.batch, 2, p.states}, kDouble, device);
  NdArray links = NdArray::empty({p.batch, p.states}, kLong, device);
  visit_float_double(x.dtype(), "ctc_loss_backward", [&]<class C> {
    CtcArgs<C> args{};
    args.x = x.address_as<C>();
    args.grad = grad.address_as<C>();
    args.alpha = alpha.address_as<double>();
    args.loss = loss.address_as<double>();
    args.dx = dx.address_as<C>();
    args.beta = beta.address_as<double>();
    args.links = links.address_as<std::int64_t>();
    args.faults = fault_sink(device, "ctc_loss_backward");
    launch_samples(device, args, p, &ctc_backward_kernel<C>);
  });
}

}  // namespace ebb::cuda
