// Convolution on the CPU: which way to compute it.
#include <ebb/core/visit.h>

#include <algorithm>

#include "core/parallel_for.h"
#include "kernel/cpu/tile.h"
#include "ops/conv/correlate.h"
#include "ops/conv/kernels.h"

namespace ebb::cpu {
namespace {

using conv::Correlation;
using conv::Reading;

template <class T>
T* data_or_null(const NdArray& x) {
  return x.defined() ? x.data_as<T>() : nullptr;
}

// Whether registers of channels of a group would be filled well enough.
template <class T>
bool fills_registers(std::int64_t channels) {
  return tiles::padded<T>(channels) * 3 <= channels * 4;
}

template <class T>
void correlate(const Correlation<T>& c) {
  // Short sums do not pay for turning results around.
  const bool by_channels = c.reading.depth() >= 64 && fills_registers<T>(c.rows);
  by_channels ? conv::correlate_by_channels(c) : conv::correlate_by_pixels(c);
}

// Kernels nearly as wide as the image leave most of each row of the window to be dropped.
bool rows_are_short(const ConvGeometry& g) {
  const std::int64_t reach = (g.kernel[2] - 1) * g.dilation[2] / g.stride[2];
  return g.out[1] > 1 && reach > g.out[2];
}

// The gradient of the input visits all of `in`; where that is far more than `out`, columns are better.
bool input_is_wide(const ConvGeometry& g) {
  std::int64_t in = 1, out = 1;
  for (int a = 0; a < 3; ++a) {
    in *= (g.in[a] + g.stride[a] - 1) / g.stride[a];
    out *= g.out[a];
  }
  return in > 3 * out || (g.in[1] > 1 && (g.kernel[2] - 1) * g.dilation[2] / g.stride[2] > 2 * g.in[2]);
}

// Where nothing but channels mixes, an image is one row.
ConvGeometry flattened(ConvGeometry g) {
  for (int a = 0; a < 3; ++a)
    if (g.kernel[a] != 1 || g.stride[a] != 1 || g.padding[a] != 0) return g;
  g.in[2] = g.out[2] = ConvGeometry::volume(g.in);
  g.in[0] = g.in[1] = g.out[0] = g.out[1] = 1;
  return g;
}

template <class T>
void forward(T* out, const T* in, const T* weight, const T* bias, const ConvGeometry& g) {
  if (rows_are_short(g)) return conv::columns_forward(g, in, weight, bias, out);
  const Reading reading = conv::forward_reading(g);
  const std::int64_t depth = reading.depth(), rows = g.group_out();
  correlate<T>({reading,
                {{g.out[0], g.out[1], g.out[2]}, {0, 0, 0}, {1, 1, 1}},
                g.batch,
                g.groups,
                rows,
                in,
                {weight, rows * depth, depth, ConvGeometry::volume(g.kernel)},
                bias,
                out});
}

// How one phase of `in` (every stride-th position, from first_[a] on) is computed from `out`; false if no tap
// or no position falls on it.
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
    // Position e of the phase is element stride * e + phase - padding of `in`; the first inside is e = start.
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

template <class T>
void input(T* in, const T* out, const T* weight, const T* bias, const ConvGeometry& g) {
  if (input_is_wide(g)) return conv::columns_input(g, out, weight, bias, in);
  const std::int64_t plane = ConvGeometry::volume(g.in), volume = ConvGeometry::volume(g.kernel);
  bool covered = true;  // by phases that have taps
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
    const std::int64_t row_step = volume, channel_step = g.group_in() * volume;
    correlate<T>({reading,
                  target,
                  g.batch,
                  g.groups,
                  g.group_in(),
                  out,
                  {weight, g.group_out() * channel_step, row_step, channel_step},
                  bias,
                  in});
  }
}

}  // namespace

void conv_forward(NdArray& out, const NdArray& in, const NdArray& weight, const NdArray& bias,
                  const ConvGeometry& g, bool relu) {
  visit_float_double(out.dtype(), "convolution", [&]<class T> {
    T* const data = out.data_as<T>();
    forward<T>(data, in.data_as<T>(), weight.data_as<T>(), data_or_null<T>(bias), flattened(g));
    if (!relu) return;
    parallel_for(0, out.numel(), kGrain, [&](std::int64_t from, std::int64_t to) {
      for (std::int64_t i = from; i < to; ++i) data[i] = data[i] < T(0) ? T(0) : data[i];
    });
  });
}

void conv_input(NdArray& in, const NdArray& out, const NdArray& weight, const NdArray& bias,
                const ConvGeometry& g) {
  visit_float_double(in.dtype(), "convolution", [&]<class T> {
    input<T>(in.data_as<T>(), out.data_as<T>(), weight.data_as<T>(), data_or_null<T>(bias), flattened(g));
  });
}

void conv_weight(NdArray& weight, const NdArray& out, const NdArray& in, const ConvGeometry& geometry) {
  const ConvGeometry g = flattened(geometry);
  visit_float_double(weight.dtype(), "convolution", [&]<class T> {
    if (rows_are_short(g))
      return conv::columns_weight<T>(g, in.data_as<T>(), out.data_as<T>(), weight.data_as<T>());
    (fills_registers<T>(g.group_out()) ? conv::weight_by_channels<T>
                                       : conv::weight_by_pixels<T>)(g, conv::forward_reading(g),
                                                                    in.data_as<T>(), out.data_as<T>(),
                                                                    weight.data_as<T>());
  });
}

}  // namespace ebb::cpu
