// Convolution on the CPU: selects the implementation.
#include <ebb/core/visit.h>

#include "core/parallel_for.h"
#include "kernel/call/arguments.h"
#include "kernel/cpu/parts.h"
#include "kernel/cpu/tile_pairs.h"
#include "ops/common/kernels.h"
#include "ops/conv/correlate.h"
#include "ops/conv/kernels.h"

#include <algorithm>

namespace ebb::cpu {
namespace {

using conv::Correlation;
using conv::Reading;
using conv::Weights;

// Returns whether padding to whole vector registers adds at most a third of `channels`.
template <class T>
bool fills_registers(std::int64_t channels) {
  return tiles::padded<T>(channels) * 3 <= channels * 4;
}

// Returns whether to use the kernel with channels in vector lanes. This kernel is slower for short sums,
// because its results must be transposed.
template <class T>
bool uses_channel_lanes(std::int64_t depth, std::int64_t rows) {
  return depth >= 64 && fills_registers<T>(rows);
}

template <class T, class Element>
void correlate(const Correlation<T>& c) {
  if constexpr (!std::is_same_v<T, Element>)
    conv::correlate_by_channels<T, Element>(c);
  else
    uses_channel_lanes<T>(c.reading.depth(), c.rows) ? conv::correlate_by_channels(c)
                                                     : conv::correlate_by_pixels(c);
}

// Returns whether the kernel is so wide compared to the results that the kernels with windows would drop most
// of the elements that they compute in each row.
bool rows_are_short(const ConvGeometry& g) {
  const std::int64_t reach = (g.kernel[2] - 1) * g.dilation[2] / g.stride[2];
  return g.out[1] > 1 && reach > g.out[2];
}

// Returns whether column matrices are faster for the input gradient. They are faster if `in` is much larger
// than `out`, because the kernel with windows processes all elements of `in`. They are also faster if `in`
// has several rows and the kernel reaches over more than twice the length of a row.
bool input_is_wide(const ConvGeometry& g) {
  std::int64_t in = 1, out = 1;
  for (int a = 0; a < 3; ++a) {
    in *= (g.in[a] + g.stride[a] - 1) / g.stride[a];
    out *= g.out[a];
  }
  return in > 3 * out || (g.in[1] > 1 && (g.kernel[2] - 1) * g.dilation[2] / g.stride[2] > 2 * g.in[2]);
}

// Returns the geometry with each image as one row, if the convolution only combines channels (kernel 1, no
// stride, no padding). Otherwise returns g.
ConvGeometry flattened(ConvGeometry g) {
  for (int a = 0; a < 3; ++a)
    if (g.kernel[a] != 1 || g.stride[a] != 1 || g.padding[a] != 0) return g;
  g.in[2] = g.out[2] = ConvGeometry::volume(g.in);
  g.in[0] = g.in[1] = g.out[0] = g.out[1] = 1;
  return g;
}

// Computes sums over `channels` channels of `taps` taps each. run(from, size, to, bias) computes the sums
// over the channels [from, from + size). Long float sums lose digits; therefore a sum of more than kLongest
// products is divided into several runs, whose results are added in double. `out` is [images][biased][plane],
// with one bias for each of the `biased` channels.
template <class T, class Run>
void sum_over_channels(std::int64_t channels, std::int64_t taps, T* out, const T* bias, std::int64_t images,
                       std::int64_t biased, std::int64_t plane, const Run& run) {
  constexpr std::int64_t kLongest = 4 * kTileRun;
  const std::int64_t longest = std::max<std::int64_t>(1, kLongest / std::max<std::int64_t>(taps, 1));
  if (!std::is_same_v<T, float> || channels <= longest) return run(0, channels, out, bias);
  sum_by_runs(longest, channels, out, images * biased * plane,
              [&](std::int64_t from, std::int64_t size, T* to) { run(from, size, to, nullptr); });
  if (!bias) return;
  for (std::int64_t i = 0; i < images * biased; ++i)
    for (std::int64_t u = 0; u < plane; ++u) out[i * plane + u] += bias[i % biased];
}

// The forward pass with windows. If Element is tiles::Pair, the operands are pairs of channels.
template <class T, class Element = T>
void forward(T* out, const T* in, const T* weight, const T* bias, const ConvGeometry& g) {
  Reading reading = conv::forward_reading(g);
  if constexpr (!std::is_same_v<T, Element>) reading.channels = conv::pairs_of(reading.channels);
  const std::int64_t channels = reading.channels, taps = ConvGeometry::volume(g.kernel);
  const std::int64_t depth = reading.depth(), rows = g.group_out();
  sum_over_channels(channels, taps, out, bias, g.batch, g.out_channels, ConvGeometry::volume(g.out),
                    [&](std::int64_t from, std::int64_t size, T* to, const T* shift) {
                      reading.channels = size;
                      correlate<T, Element>({reading,
                                             {{g.out[0], g.out[1], g.out[2]}, {0, 0, 0}, {1, 1, 1}},
                                             g.batch,
                                             g.groups,
                                             rows,
                                             in + from * ConvGeometry::volume(g.in),
                                             channels,
                                             {weight + from * taps, rows * depth, depth, taps},
                                             shift,
                                             to});
                    });
}

// Describes how one phase of `in` is computed from `out`. The phase consists of every stride-th position,
// beginning at `phase`. Returns false if the phase has no tap or no position.
bool phase_reading(const ConvGeometry& g, const std::int64_t (&phase)[3], Reading& r, conv::Target& target) {
  r = Reading();
  r.channels = g.group_out();
  r.phases = {{{0, 0, 0}}};
  std::vector<std::int64_t> taps[3];
  std::int64_t reach_to[3];
  for (int a = 0; a < 3; ++a) {
    std::int64_t low = -1, high = -1;
    for (std::int64_t k = 0; k < g.kernel[a]; ++k)
      if (k * g.dilation[a] % g.stride[a] == phase[a]) {
        taps[a].push_back(k);
        high = k * g.dilation[a] / g.stride[a];
        if (low < 0) low = high;
      }
    if (taps[a].empty()) return false;
    // Element e of the phase is at position stride * e + phase - padding of `in`. The first e with a position
    // >= 0 is `start`.
    const std::int64_t lead = g.padding[a] - phase[a];
    const std::int64_t start = lead > 0 ? (lead + g.stride[a] - 1) / g.stride[a] : 0;
    const std::int64_t first = g.stride[a] * start - lead;
    if (first >= g.in[a]) return false;
    reach_to[a] = high;
    r.axis[a] = {g.out[a], (g.in[a] - first + g.stride[a] - 1) / g.stride[a], high - low, 1, high - start};
    target.size[a] = g.in[a];
    target.first[a] = first;
    target.step[a] = g.stride[a];
  }
  for (const std::int64_t i : taps[0])
    for (const std::int64_t j : taps[1])
      for (const std::int64_t k : taps[2]) {
        const std::int64_t at[3] = {i, j, k};
        conv::Tap tap{(i * g.kernel[1] + j) * g.kernel[2] + k, 0, {}};
        for (int a = 0; a < 3; ++a) tap.shift[a] = reach_to[a] - at[a] * g.dilation[a] / g.stride[a];
        r.taps.push_back(tap);
      }
  return true;
}

// Computes the contribution of the channels [from, from + size) of each group of `out` to the input gradient.
template <class T, class Element>
void input_of_channels(T* in, const T* out, const Weights<T>& weight, const T* bias, const ConvGeometry& g,
                       std::int64_t channels, std::int64_t from, std::int64_t size) {
  const std::int64_t plane = ConvGeometry::volume(g.in);
  bool covered = true;  // true if each phase has taps
  for (int a = 0; a < 3; ++a)
    covered =
        covered && g.dilation[a] % g.stride[a] == (g.stride[a] == 1 ? 0 : 1) && g.kernel[a] >= g.stride[a];
  if (!covered)
    for (std::int64_t i = 0; i < g.batch * g.in_channels; ++i)
      std::fill(in + i * plane, in + (i + 1) * plane, bias ? bias[i % g.in_channels] : T(0));
  for (std::int64_t p = 0; p < ConvGeometry::volume(g.stride); ++p) {
    const std::int64_t phase[3] = {p / (g.stride[1] * g.stride[2]), p / g.stride[2] % g.stride[1],
                                   p % g.stride[2]};
    Reading reading;
    conv::Target target;
    if (!phase_reading(g, phase, reading, target)) continue;
    reading.channels = size;
    correlate<T, Element>(
        {reading,
         target,
         g.batch,
         g.groups,
         g.group_in(),
         out + from * ConvGeometry::volume(g.out),
         channels,
         {weight.data + from * weight.channel_step, weight.group_step, weight.row_step, weight.channel_step},
         bias,
         in});
  }
}

// The input gradient with windows of `out`. If Element is tiles::Pair, the weights are [groups][channels of
// in][pairs of channels of out][taps].
template <class T, class Element = T>
void input(T* in, const T* out, const Weights<T>& weight, const T* bias, const ConvGeometry& g) {
  const std::int64_t channels = std::is_same_v<T, Element> ? g.group_out() : conv::pairs_of(g.group_out());
  sum_over_channels(channels, ConvGeometry::volume(g.kernel), in, bias, g.batch, g.in_channels,
                    ConvGeometry::volume(g.in),
                    [&](std::int64_t from, std::int64_t size, T* to, const T* shift) {
                      input_of_channels<T, Element>(to, out, weight, shift, g, channels, from, size);
                    });
}

// Returns the weights with the strides that input() needs: a row is a channel of `in`, and a channel is a
// channel of `out`.
template <class T>
Weights<T> transposed_weights(const T* weight, const ConvGeometry& g) {
  const std::int64_t volume = ConvGeometry::volume(g.kernel), channel_step = g.group_in() * volume;
  return {weight, g.group_out() * channel_step, volume, channel_step};
}

// Runs the forward pass for operands of the dtype of the result.
void forward_of(NdArray& out, const NdArray& in, const NdArray& weight, const NdArray& bias,
                const ConvGeometry& g) {
  visit_float_double(out.dtype(), "convolution", [&]<class T> {
    const T *const x = in.address_as<T>(), *const w = weight.address_as<T>(),
                   *const b = data_or_null<T>(bias);
    rows_are_short(g) ? conv::columns_forward(g, x, w, b, out.address_as<T>())
                      : forward<T>(out.address_as<T>(), x, w, b, g);
  });
}
void input_of(NdArray& in, const NdArray& out, const NdArray& weight, const NdArray& bias,
              const ConvGeometry& g) {
  visit_float_double(in.dtype(), "convolution", [&]<class T> {
    const T *const y = out.address_as<T>(), *const w = weight.address_as<T>(),
                   *const b = data_or_null<T>(bias);
    input_is_wide(g) ? conv::columns_input(g, y, w, b, in.address_as<T>())
                     : input<T>(in.address_as<T>(), y, transposed_weights(w, g), b, g);
  });
}
void weight_of(NdArray& weight, const NdArray& out, const NdArray& in, const ConvGeometry& g) {
  visit_float_double(weight.dtype(), "convolution", [&]<class T> {
    const T *const x = in.address_as<T>(), *const y = out.address_as<T>();
    T* const w = weight.address_as<T>();
    if (rows_are_short(g))
      conv::columns_weight(g, x, y, w);
    else if (fills_registers<T>(g.group_out()))
      conv::weight_by_channels(g, conv::forward_reading(g), x, y, w);
    else
      conv::weight_by_pixels(g, conv::forward_reading(g), x, y, w);
  });
}

// The forward pass for BFloat16 with instructions for pairs. Returns false if the processor does not have
// these instructions or if they would not be faster.
#if EBB_BFLOAT16_PAIRS
bool forward_of_pairs(NdArray& out, const NdArray& in, const NdArray& weight, const NdArray& bias,
                      const ConvGeometry& g) {
  const std::int64_t channels = g.group_in(), rows = g.group_out(), taps = ConvGeometry::volume(g.kernel);
  if (!tiles::multiplies_pairs() || rows_are_short(g) || channels == 1 ||
      !uses_channel_lanes<float>(channels * taps, rows))
    return false;
  const NdArray x =
      conv::pair_planes(in.address_as<BFloat16>(), g.batch * g.groups, channels, ConvGeometry::volume(g.in));
  const NdArray w =
      conv::pair_weights({weight.address_as<BFloat16>(), rows * channels * taps, channels * taps, taps},
                         g.groups, rows, channels, taps);
  forward<float, tiles::Pair>(out.address_as<float>(), x.address_as<float>(), w.address_as<float>(),
                              data_or_null<float>(bias), g);
  return true;
}
bool input_of_pairs(NdArray& in, const NdArray& out, const NdArray& weight, const NdArray& bias,
                    const ConvGeometry& g) {
  const std::int64_t channels = g.group_out(), rows = g.group_in(), taps = ConvGeometry::volume(g.kernel);
  const std::int64_t phases = ConvGeometry::volume(g.stride);
  if (!tiles::multiplies_pairs() || input_is_wide(g) || channels == 1 ||
      !uses_channel_lanes<float>(channels * taps / phases, rows))
    return false;
  const NdArray y = conv::pair_planes(out.address_as<BFloat16>(), g.batch * g.groups, channels,
                                      ConvGeometry::volume(g.out));
  const NdArray w = conv::pair_weights(transposed_weights(weight.address_as<BFloat16>(), g), g.groups, rows,
                                       channels, taps);
  const std::int64_t row_step = conv::pairs_of(channels) * taps;
  input<float, tiles::Pair>(in.address_as<float>(), y.address_as<float>(),
                            {w.address_as<float>(), rows * row_step, row_step, taps},
                            data_or_null<float>(bias), g);
  return true;
}
bool weight_of_pairs(NdArray& weight, const NdArray& out, const NdArray& in, const ConvGeometry& g) {
  if (!tiles::multiplies_pairs() || rows_are_short(g) || !fills_registers<float>(g.group_out()) ||
      g.out[2] % 2 != 0)
    return false;
  conv::weight_by_channels<float, BFloat16>(g, conv::forward_reading(g), in.address_as<BFloat16>(),
                                            out.address_as<BFloat16>(), weight.address_as<float>());
  return true;
}
#else
bool forward_of_pairs(NdArray&, const NdArray&, const NdArray&, const NdArray&, const ConvGeometry&) {
  return false;
}
bool input_of_pairs(NdArray&, const NdArray&, const NdArray&, const NdArray&, const ConvGeometry&) {
  return false;
}
bool weight_of_pairs(NdArray&, const NdArray&, const NdArray&, const ConvGeometry&) { return false; }
#endif

NdArray widened(const NdArray& x) {
  NdArray out = NdArray::empty(x.sizes(), kFloat);
  copy(out, x);
  return out;
}

}  // namespace

void conv_forward(NdArray& out, const NdArray& in, const NdArray& weight, const NdArray& bias,
                  const ConvGeometry& geometry, bool relu) {
  const ConvGeometry g = flattened(geometry);
  if (in.dtype() != kBFloat16)
    forward_of(out, in, weight, bias, g);
  else if (!forward_of_pairs(out, in, weight, bias, g))
    forward_of(out, widened(in), widened(weight), bias, g);
  if (!relu) return;
  visit_float_double(out.dtype(), "convolution", [&]<class T> {
    T* const data = out.address_as<T>();
    parallel_for(0, out.numel(), kGrain, [&](std::int64_t from, std::int64_t to) {
      for (std::int64_t i = from; i < to; ++i) data[i] = data[i] < T(0) ? T(0) : data[i];
    });
  });
}

void conv_input(NdArray& in, const NdArray& out, const NdArray& weight, const NdArray& bias,
                const ConvGeometry& geometry) {
  const ConvGeometry g = flattened(geometry);
  if (out.dtype() != kBFloat16)
    input_of(in, out, weight, bias, g);
  else if (!input_of_pairs(in, out, weight, bias, g))
    input_of(in, widened(out), widened(weight), bias, g);
}

void conv_weight(NdArray& weight, const NdArray& out, const NdArray& in, const ConvGeometry& geometry) {
  const ConvGeometry g = flattened(geometry);
  if (in.dtype() != kBFloat16)
    weight_of(weight, out, in, g);
  else if (!weight_of_pairs(weight, out, in, g))
    weight_of(weight, widened(out), widened(in), g);
}

}  // namespace ebb::cpu
