// Convolution by cuDNN, which is fast only for aligned arrays and counts elements in 32 bits. Therefore
// unaligned inputs are copied and large batches are divided; ebb's own kernels would be about a hundred times
// slower.
#include "ops/conv/cuda_library.h"

#include "ops/common/cuda_aligned.h"

#include <algorithm>

namespace ebb::cuda::convolving {
namespace {

// Returns `count` samples of an array from `first` on.
NdArray samples_of(const NdArray& x, std::int64_t first, std::int64_t count) {
  DimVector sizes(x.sizes());
  sizes[0] = count;
  return x.as_strided(sizes, x.strides(), x.offset() + first * x.strides()[0]);
}

// Returns the number of samples of each call, so that all calls have about the same number. Returns 0 if even
// one sample is too large for cuDNN.
std::int64_t samples_per_call(const NdArray& in, const NdArray& out) {
  const std::int64_t batch = in.sizes()[0], each = std::max(in.numel(), out.numel()) / batch;
  const std::int64_t most = dnn_most_elements() / each;
  if (most == 0 || most >= batch) return std::min(most, batch);
  constexpr std::int64_t kVector = 8;  // kVector samples consist of whole vectors of 16 bytes
  const std::int64_t calls = (batch + most - 1) / most, even = (batch + calls - 1) / calls;
  const std::int64_t whole = (even + kVector - 1) / kVector * kVector;
  return whole <= most ? whole : most < kVector ? even : most / kVector * kVector;
}

struct Call {
  DnnConv kind;
  const NdArray &in, &weight, &out;
  const ConvGeometry& g;
  const NdArray* bias;
  bool relu;

  bool run(const NdArray& x, const NdArray& y) const {
    const std::size_t axes = in.sizes().size() - 2, first = 3 - axes;
    return dnn_convolve({.kind = kind,
                         .in = kind == DnnConv::input ? x : aligned(x),
                         .weight = weight,
                         .out = kind == DnnConv::forward ? y : aligned(y),
                         .stride = IntArrayRef(g.stride + first, axes),
                         .padding = IntArrayRef(g.padding + first, axes),
                         .dilation = IntArrayRef(g.dilation + first, axes),
                         .bias = bias,
                         .relu = relu});
  }
};

// Sums a weight's gradient over parts of the batch, in Float (in Double for Double). Before each add(),
// `weight` contains the gradient of one part of the batch. finish() writes the sum to `weight`.
struct WeightParts {
  NdArray weight, share, sum;

  explicit WeightParts(const NdArray& w) : weight(w) {
    const DType wide = w.dtype() == kDouble ? kDouble : kFloat;
    share = NdArray::empty_strided(w.sizes(), w.strides(), wide, w.device());
    sum = NdArray::empty_strided(w.sizes(), w.strides(), wide, w.device());
    kernels::fill(w.device(), sum, 0);
  }
  void add() {
    kernels::copy(weight.device(), share, weight);
    kernels::accumulate(weight.device(), sum, share);
  }
  void finish() { kernels::copy(weight.device(), weight, sum); }
};

}  // namespace

bool by_library(DnnConv kind, const NdArray& in, const NdArray& weight, const NdArray& out,
                const ConvGeometry& g, const NdArray* bias, bool relu) {
  if (!dnn_is_used() || in.numel() == 0 || out.numel() == 0 || weight.numel() == 0) return false;
  if (weight.numel() > dnn_most_elements()) return false;
  const NdArray w = kind == DnnConv::weight ? weight : aligned(weight),
                shift = bias ? aligned(*bias) : NdArray();
  const Call call{kind, in, w, out, g, bias ? &shift : nullptr, relu};
  const std::int64_t batch = in.sizes()[0], step = samples_per_call(in, out);
  if (step == 0) return false;
  if (step == batch) return call.run(in, out);
  std::optional<WeightParts> parts;
  if (kind == DnnConv::weight) parts.emplace(weight);
  for (std::int64_t first = 0; first < batch; first += step) {
    const std::int64_t count = std::min(step, batch - first);
    if (!call.run(samples_of(in, first, count), samples_of(out, first, count))) return false;
    if (parts) parts->add();
  }
  if (parts) parts->finish();
  return true;
}

}  // namespace ebb::cuda::convolving
