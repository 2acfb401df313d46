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
using conv::Layout;
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

// Returns whether the groups have one channel, and few enough weights for sums in one part.
bool is_depthwise(const ConvGeometry& g) {
  return g.groups == g.in_channels && g.groups == g.out_channels && ConvGeometry::volume(g.kernel) < 192;
}

// Returns whether there is a kernel for these layouts, at least one of which is channels-last. `rows` is the
// number of channels of the result in a group.
template <class T>
bool takes(const ConvGeometry& g, std::int64_t rows, const Layout& first, const Layout& second) {
  return is_depthwise(g) ? first.interleaved() && second.interleaved()
                         : rows > 1 && 2 * rows >= tiles::kWidth<T>;
}

template <class T, class Element>
void correlate(const Correlation<T>& c) {
  if constexpr (!std::is_same_v<T, Element>) {
    conv::correlate_by_channels<T, Element>(c);
  } else if (c.layout.interleaved() || c.reading.layout.interleaved()) {
    c.rows == 1 ? conv::correlate_by_groups(c) : conv::correlate_by_channels(c);
  } else {
    uses_channel_lanes<T>(c.reading.depth(), c.rows) ? conv::correlate_by_channels(c)
                                                     : conv::correlate_by_pixels(c);
  }
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
// stride, no padding). If both layouts are channels-last, all images are one row. Otherwise returns g.
ConvGeometry flattened(ConvGeometry g, const Layout& first, const Layout& second) {
  for (int a = 0; a < 3; ++a)
    if (g.kernel[a] != 1 || g.stride[a] != 1 || g.padding[a] != 0) return g;
  const std::int64_t images = first.interleaved() && second.interleaved() && !is_depthwise(g) ? g.batch : 1;
  g.in[2] = g.out[2] = images * ConvGeometry::volume(g.in);
  g.in[0] = g.in[1] = g.out[0] = g.out[1] = 1;
  g.batch /= images;
  return g;
}

// Returns the layout of images that are contiguous or channels-last.
Layout layout_of(const NdArray& x) {
  const std::int64_t image = x.numel() / x.sizes()[0], channels = x.sizes()[1];
  return x.is_contiguous() ? Layout{image, image / channels, 1} : Layout{image, 1, channels};
}

// Returns the weights of a group as rows of out channels.
template <class T>
Weights<T> weights_of(const NdArray& weight, const ConvGeometry& g) {
  const std::int64_t channels = g.group_in(), taps = ConvGeometry::volume(g.kernel);
  const bool planes = weight.is_contiguous();
  return {weight.address_as<T>(), g.group_out() * channels * taps, channels * taps, planes ? taps : 1,
          planes ? 1 : channels};
}

// Returns the weights with a row for each in channel.
template <class T>
Weights<T> transposed(Weights<T> weight) {
  std::swap(weight.row_step, weight.channel_step);
  return weight;
}

// Adds the bias to each channel of `data`, or fills the channel with it.
template <class T>
void set_bias(T* data, const Layout& layout, const T* bias, std::int64_t images, std::int64_t channels,
              bool add) {
  const std::int64_t pixels = layout.image / channels;
  const auto set = [&](T& x, std::int64_t channel) {
    const T value = bias ? bias[channel] : T(0);
    x = add ? x + value : value;
  };
  for (std::int64_t i = 0; i < images; ++i, data += layout.image)
    if (layout.interleaved()) {
      for (std::int64_t u = 0; u < pixels; ++u)
        for (std::int64_t c = 0; c < channels; ++c) set(data[u * channels + c], c);
    } else {
      for (std::int64_t c = 0; c < channels; ++c)
        for (std::int64_t u = 0; u < pixels; ++u) set(data[c * pixels + u], c);
    }
}

// Computes sums over `channels` channels of `taps` taps each. run(from, size, to, bias) computes the sums
// over the channels [from, from + size). Long float sums lose digits; therefore a sum of more than kLongest
// products is divided into several runs, whose results are added in double. `out` contains `images` images of
// `rows` channels, which have a bias each.
template <class T, class Run>
void sum_over_channels(std::int64_t channels, std::int64_t taps, T* out, const Layout& layout, const T* bias,
                       std::int64_t images, std::int64_t rows, const Run& run) {
  constexpr std::int64_t kLongest = 4 * kTileRun;
  const std::int64_t longest = std::max<std::int64_t>(1, kLongest / std::max<std::int64_t>(taps, 1));
  if (!std::is_same_v<T, float> || channels <= longest) return run(0, channels, out, bias);
  sum_by_runs(longest, channels, out, images * layout.image,
              [&](std::int64_t from, std::int64_t size, T* to) { run(from, size, to, nullptr); });
  if (bias) set_bias(out, layout, bias, images, rows, true);
}

// The forward pass with windows. If Element is tiles::Pair, the operands are pairs of channels.
template <class T, class Element = T>
void forward(T* out, const T* in, const Weights<const T>& weight, const T* bias, const ConvGeometry& g,
             const Layout& out_layout, const Layout& in_layout) {
  Reading reading = conv::forward_reading(g, in_layout);
  if constexpr (!std::is_same_v<T, Element>) reading.channels = conv::pairs_of(reading.channels);
  const std::int64_t channels = reading.channels;
  sum_over_channels(channels, ConvGeometry::volume(g.kernel), out, out_layout, bias, g.batch, g.out_channels,
                    [&](std::int64_t from, std::int64_t size, T* to, const T* shift) {
                      reading.channels = size;
                      Weights<const T> part = weight;
                      part.data += from * weight.channel_step;
                      correlate<T, Element>({reading,
                                             {{g.out[0], g.out[1], g.out[2]}, {0, 0, 0}, {1, 1, 1}},
                                             g.batch,
                                             g.groups,
                                             g.group_out(),
                                             in + from * in_layout.channel,
                                             channels,
                                             part,
                                             shift,
                                             to,
                                             out_layout});
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
void input_of_channels(T* in, const T* out, Weights<const T> weight, const T* bias, const ConvGeometry& g,
                       const Layout& in_layout, const Layout& out_layout, std::int64_t channels,
                       std::int64_t from, std::int64_t size) {
  bool covered = true;  // true if each phase has taps
  for (int a = 0; a < 3; ++a)
    covered =
        covered && g.dilation[a] % g.stride[a] == (g.stride[a] == 1 ? 0 : 1) && g.kernel[a] >= g.stride[a];
  if (!covered) set_bias(in, in_layout, bias, g.batch, g.in_channels, false);
  weight.data += from * weight.channel_step;
  for (std::int64_t p = 0; p < ConvGeometry::volume(g.stride); ++p) {
    const std::int64_t phase[3] = {p / (g.stride[1] * g.stride[2]), p / g.stride[2] % g.stride[1],
                                   p % g.stride[2]};
    Reading reading;
    conv::Target target;
    if (!phase_reading(g, phase, reading, target)) continue;
    reading.channels = size;
    reading.layout = out_layout;
    correlate<T, Element>({reading, target, g.batch, g.groups, g.group_in(), out + from * out_layout.channel,
                           channels, weight, bias, in, in_layout});
  }
}

// The input gradient with windows of `out`. If Element is tiles::Pair, the weights are those of pairs of
// channels of `out`.
template <class T, class Element = T>
void input(T* in, const T* out, const Weights<const T>& weight, const T* bias, const ConvGeometry& g,
           const Layout& in_layout, const Layout& out_layout) {
  const std::int64_t channels = std::is_same_v<T, Element> ? g.group_out() : conv::pairs_of(g.group_out());
  sum_over_channels(channels, ConvGeometry::volume(g.kernel), in, in_layout, bias, g.batch, g.in_channels,
                    [&](std::int64_t from, std::int64_t size, T* to, const T* shift) {
                      input_of_channels<T, Element>(to, out, weight, shift, g, in_layout, out_layout,
                                                    channels, from, size);
                    });
}

// Returns whether all arrays are contiguous.
bool are_planes(const NdArray& a, const NdArray& b, const NdArray& c) {
  return a.is_contiguous() && b.is_contiguous() && c.is_contiguous();
}

NdArray contiguous(const NdArray& x, DType dtype) {
  if (x.is_contiguous() && x.dtype() == dtype) return x;
  NdArray out = NdArray::empty(x.sizes(), dtype);
  copy(out, x);
  return out;
}

// Calls run(result, first, second) with contiguous arrays.
template <class Run>
void with_planes(NdArray& result, const NdArray& first, const NdArray& second, const Run& run) {
  NdArray planes = NdArray::empty(result.sizes(), result.dtype());
  run(planes, contiguous(first, first.dtype()), contiguous(second, second.dtype()));
  copy(result, planes);
}

// Runs the forward pass for operands of the dtype of the result.
void forward_of(NdArray& out, const NdArray& in, const NdArray& weight, const NdArray& bias,
                const ConvGeometry& geometry) {
  const Layout to = layout_of(out), from = layout_of(in);
  const ConvGeometry g = flattened(geometry, to, from);
  const bool by_columns = rows_are_short(g), planes = are_planes(out, in, weight);
  visit_float_double(out.dtype(), "convolution", [&]<class T> {
    const T* const b = data_or_null<T>(bias);
    if (!planes && (by_columns || !takes<T>(g, g.group_out(), to, from)))
      return with_planes(out, in, weight, [&](NdArray& y, const NdArray& x, const NdArray& w) {
        forward_of(y, x, w, bias, geometry);
      });
    if (by_columns)
      conv::columns_forward(g, in.address_as<T>(), weight.address_as<T>(), b, out.address_as<T>());
    else
      forward<T>(out.address_as<T>(), in.address_as<T>(), weights_of<const T>(weight, g), b, g, to, from);
  });
}
void input_of(NdArray& in, const NdArray& out, const NdArray& weight, const NdArray& bias,
              const ConvGeometry& geometry) {
  const Layout to = layout_of(in), from = layout_of(out);
  const ConvGeometry g = flattened(geometry, to, from);
  const bool by_columns = input_is_wide(g), planes = are_planes(in, out, weight);
  visit_float_double(in.dtype(), "convolution", [&]<class T> {
    const T* const b = data_or_null<T>(bias);
    if (!planes && (by_columns || !takes<T>(g, g.group_in(), to, from)))
      return with_planes(in, out, weight, [&](NdArray& x, const NdArray& y, const NdArray& w) {
        input_of(x, y, w, bias, geometry);
      });
    if (by_columns)
      conv::columns_input(g, out.address_as<T>(), weight.address_as<T>(), b, in.address_as<T>());
    else
      input<T>(in.address_as<T>(), out.address_as<T>(), transposed(weights_of<const T>(weight, g)), b, g, to,
               from);
  });
}
void weight_of(NdArray& weight, const NdArray& out, const NdArray& in, const ConvGeometry& geometry) {
  const Layout y = layout_of(out), x = layout_of(in);
  const ConvGeometry g = flattened(geometry, y, x);
  const bool by_columns = rows_are_short(g), planes = are_planes(weight, out, in);
  visit_float_double(weight.dtype(), "convolution", [&]<class T> {
    if (!planes && (by_columns || !takes<T>(g, g.group_out(), y, x)))
      return with_planes(weight, out, in, [&](NdArray& a, const NdArray& b, const NdArray& c) {
        weight_of(a, b, c, geometry);
      });
    const T *const from_in = in.address_as<T>(), *const from_out = out.address_as<T>();
    const Reading reading = conv::forward_reading(g, x);
    if (by_columns)
      conv::columns_weight(g, from_in, from_out, weight.address_as<T>());
    else if (!planes && is_depthwise(g))
      conv::weight_by_groups(g, reading, from_in, from_out, weight.address_as<T>());
    else if (!planes || fills_registers<T>(g.group_out()))
      conv::weight_by_channels(g, reading, from_in, from_out, y, weights_of<T>(weight, g));
    else
      conv::weight_by_pixels(g, reading, from_in, from_out, weight.address_as<T>());
  });
}

// The forward pass for BFloat16 with instructions for pairs. Returns false if the processor does not have
// these instructions or if they would not be faster.
#if EBB_BFLOAT16_PAIRS
Layout layout_of_pairs(std::int64_t groups, std::int64_t channels, std::int64_t plane) {
  return {groups * conv::pairs_of(channels) * plane, plane, 1};
}
bool forward_of_pairs(NdArray& out, const NdArray& in, const NdArray& weight, const NdArray& bias,
                      const ConvGeometry& geometry) {
  const Layout layout = layout_of(out);
  const ConvGeometry g = flattened(geometry, layout, layout);
  const std::int64_t channels = g.group_in(), rows = g.group_out(), taps = ConvGeometry::volume(g.kernel);
  if (!tiles::multiplies_pairs() || rows_are_short(g) || channels == 1 ||
      !uses_channel_lanes<float>(channels * taps, rows))
    return false;
  const std::int64_t plane = ConvGeometry::volume(g.in), row_step = conv::pairs_of(channels) * taps;
  const NdArray x = conv::pair_planes(in.address_as<BFloat16>(), g.batch * g.groups, channels, plane);
  const NdArray w = conv::pair_weights(weights_of<const BFloat16>(weight, g), g.groups, rows, channels, taps);
  forward<float, tiles::Pair>(out.address_as<float>(), x.address_as<float>(),
                              {w.address_as<float>(), rows * row_step, row_step, taps, 1},
                              data_or_null<float>(bias), g, layout,
                              layout_of_pairs(g.groups, channels, plane));
  return true;
}
bool input_of_pairs(NdArray& in, const NdArray& out, const NdArray& weight, const NdArray& bias,
                    const ConvGeometry& geometry) {
  const Layout layout = layout_of(in);
  const ConvGeometry g = flattened(geometry, layout, layout);
  const std::int64_t channels = g.group_out(), rows = g.group_in(), taps = ConvGeometry::volume(g.kernel);
  const std::int64_t phases = ConvGeometry::volume(g.stride);
  if (!tiles::multiplies_pairs() || input_is_wide(g) || channels == 1 ||
      !uses_channel_lanes<float>(channels * taps / phases, rows))
    return false;
  const std::int64_t plane = ConvGeometry::volume(g.out), row_step = conv::pairs_of(channels) * taps;
  const NdArray y = conv::pair_planes(out.address_as<BFloat16>(), g.batch * g.groups, channels, plane);
  const NdArray w =
      conv::pair_weights(transposed(weights_of<const BFloat16>(weight, g)), g.groups, rows, channels, taps);
  input<float, tiles::Pair>(in.address_as<float>(), y.address_as<float>(),
                            {w.address_as<float>(), rows * row_step, row_step, taps, 1},
                            data_or_null<float>(bias), g, layout, layout_of_pairs(g.groups, channels, plane));
  return true;
}
bool weight_of_pairs(NdArray& weight, const NdArray& out, const NdArray& in, const ConvGeometry& geometry) {
  const Layout layout = layout_of(out);
  const ConvGeometry g = flattened(geometry, layout, layout);
  if (!tiles::multiplies_pairs() || rows_are_short(g) || !fills_registers<float>(g.group_out()) ||
      g.out[2] % 2 != 0)
    return false;
  conv::weight_by_channels<float, BFloat16>(g, conv::forward_reading(g, layout_of(in)),
                                            in.address_as<BFloat16>(), out.address_as<BFloat16>(), layout,
                                            weights_of<float>(weight, g));
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

}  // namespace

void conv_forward(NdArray& out, const NdArray& in, const NdArray& weight, const NdArray& bias,
                  const ConvGeometry& geometry, bool relu) {
  if (in.dtype() != kBFloat16)
    forward_of(out, in, weight, bias, geometry);
  else if (!forward_of_pairs(out, in, weight, bias, geometry))
    forward_of(out, contiguous(in, kFloat), contiguous(weight, kFloat), bias, geometry);
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
  if (out.dtype() != kBFloat16)
    input_of(in, out, weight, bias, geometry);
  else if (!input_of_pairs(in, out, weight, bias, geometry))
    input_of(in, contiguous(out, kFloat), contiguous(weight, kFloat), bias, geometry);
}

void conv_weight(NdArray& weight, const NdArray& out, const NdArray& in, const ConvGeometry& geometry) {
  if (in.dtype() != kBFloat16)
    weight_of(weight, out, in, geometry);
  else if (!weight_of_pairs(weight, out, in, geometry))
    weight_of(weight, contiguous(out, kFloat), contiguous(in, kFloat), geometry);
}

}  // namespace ebb::cpu
