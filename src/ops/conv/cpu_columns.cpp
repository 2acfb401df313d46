// Convolution as a matrix product over columns.
#include <ebb/core/ndarray.h>

#include <algorithm>

#include "core/parallel_for.h"
#include "kernel/cpu/gemm.h"
#include "kernel/cpu/parts.h"
#include "ops/conv/correlate.h"

namespace ebb::cpu::conv {
namespace {

// Images per column matrix: small results share one, so that its products are worth their setup. Fixed by the
// shapes.
std::int64_t images_together(const ConvGeometry& g) {
  const std::int64_t pixels = std::max<std::int64_t>(ConvGeometry::volume(g.out), 1);
  return std::clamp<std::int64_t>(64 / pixels, 1, std::max<std::int64_t>(g.batch, 1));
}

template <class T>
NdArray scratch(std::int64_t elements) {
  return NdArray::empty({elements}, sizeof(T) == 4 ? kFloat : kDouble);
}

// Visits the pairs of a column matrix row (tap) and the image: visit(column, element, count, element_step)
// for each run of outputs along the last axis that lie inside the image.
template <class Visit>
void for_runs(const ConvGeometry& g, Visit&& visit) {
  const std::int64_t taps = ConvGeometry::volume(g.kernel);
  for (std::int64_t t = 0; t < taps; ++t) {
    const std::int64_t k[3] = {t / (g.kernel[1] * g.kernel[2]), t / g.kernel[2] % g.kernel[1],
                               t % g.kernel[2]};
    const std::int64_t x0 = k[2] * g.dilation[2] - g.padding[2];
    const std::int64_t first = x0 >= 0 ? 0 : std::min((-x0 + g.stride[2] - 1) / g.stride[2], g.out[2]);
    const std::int64_t room = g.in[2] - x0;
    const std::int64_t last =
        room <= 0 ? first : std::clamp((room + g.stride[2] - 1) / g.stride[2], first, g.out[2]);
    if (last == first) continue;
    for (std::int64_t z = 0; z < g.out[0]; ++z) {
      const std::int64_t iz = z * g.stride[0] + k[0] * g.dilation[0] - g.padding[0];
      if (iz < 0 || iz >= g.in[0]) continue;
      for (std::int64_t y = 0; y < g.out[1]; ++y) {
        const std::int64_t iy = y * g.stride[1] + k[1] * g.dilation[1] - g.padding[1];
        if (iy < 0 || iy >= g.in[1]) continue;
        visit(t, (z * g.out[1] + y) * g.out[2] + first,
              (iz * g.in[1] + iy) * g.in[2] + x0 + first * g.stride[2], last - first);
      }
    }
  }
}

// columns[(c, tap)][image, pixel] of `count` images of one group.
template <class T>
void gather_columns(const ConvGeometry& g, const T* in, std::int64_t count, T* columns) {
  const std::int64_t taps = ConvGeometry::volume(g.kernel), pixels = ConvGeometry::volume(g.out);
  const std::int64_t plane = ConvGeometry::volume(g.in), width = count * pixels;
  std::fill(columns, columns + g.group_in() * taps * width, T(0));
  for (std::int64_t i = 0; i < count; ++i)
    for (std::int64_t c = 0; c < g.group_in(); ++c) {
      const T* from = in + (i * g.in_channels + c) * plane;
      T* to = columns + c * taps * width + i * pixels;
      for_runs(g, [&](std::int64_t tap, std::int64_t pixel, std::int64_t element, std::int64_t n) {
        T* row = to + tap * width + pixel;
        for (std::int64_t u = 0; u < n; ++u) row[u] = from[element + u * g.stride[2]];
      });
    }
}

// Whole groups of images, for each of which body(first image, count, group) runs on one thread.
template <class Body>
void for_groups(const ConvGeometry& g, Body&& body) {
  const std::int64_t together = images_together(g), tiles = (g.batch + together - 1) / together;
  parallel_for(0, tiles * g.groups, 1, [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t i = from; i < to; ++i) {
      const std::int64_t first = i / g.groups * together;
      body(first, std::min(together, g.batch - first), i % g.groups);
    }
  });
}

// `out` of some images and one group, as [channel][image, pixel].
template <class T>
void gather_out(const ConvGeometry& g, const T* out, std::int64_t first, std::int64_t count,
                std::int64_t group, T* to) {
  const std::int64_t pixels = ConvGeometry::volume(g.out), rows = g.group_out();
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t i = 0; i < count; ++i) {
      const T* from = out + ((first + i) * g.out_channels + group * rows + r) * pixels;
      std::copy(from, from + pixels, to + (r * count + i) * pixels);
    }
}

}  // namespace

template <class T>
void columns_forward(const ConvGeometry& g, const T* in, const T* weight, const T* bias, T* out) {
  const std::int64_t pixels = ConvGeometry::volume(g.out), plane = ConvGeometry::volume(g.in),
                     rows = g.group_out();
  const std::int64_t depth = g.group_in() * ConvGeometry::volume(g.kernel);
  for_groups(g, [&](std::int64_t first, std::int64_t count, std::int64_t group) {
    const std::int64_t width = count * pixels;
    const NdArray buffer = scratch<T>((depth + rows) * width);
    T* columns = buffer.address_as<T>();
    T* result = columns + depth * width;
    gather_columns(g, in + (first * g.in_channels + group * g.group_in()) * plane, count, columns);
    gemm<T>({weight + group * rows * depth, rows, depth, depth, 1}, {columns, depth, width, width, 1},
            {result, rows, width, width, 1}, T(1), T(0));
    for (std::int64_t r = 0; r < rows; ++r) {
      const T add = bias ? bias[group * rows + r] : T(0);
      for (std::int64_t i = 0; i < count; ++i) {
        T* to = out + ((first + i) * g.out_channels + group * rows + r) * pixels;
        for (std::int64_t u = 0; u < pixels; ++u) to[u] = result[(r * count + i) * pixels + u] + add;
      }
    }
  });
}

template <class T>
void columns_input(const ConvGeometry& g, const T* out, const T* weight, const T* bias, T* in) {
  const std::int64_t pixels = ConvGeometry::volume(g.out), plane = ConvGeometry::volume(g.in),
                     rows = g.group_out();
  const std::int64_t taps = ConvGeometry::volume(g.kernel), depth = g.group_in() * taps;
  for_groups(g, [&](std::int64_t first, std::int64_t count, std::int64_t group) {
    const std::int64_t width = count * pixels;
    const NdArray buffer = scratch<T>((depth + rows) * width);
    T* columns = buffer.address_as<T>();
    T* left = columns + depth * width;
    gather_out(g, out, first, count, group, left);
    gemm<T>({weight + group * rows * depth, depth, rows, 1, depth}, {left, rows, width, width, 1},
            {columns, depth, width, width, 1}, T(1), T(0));
    for (std::int64_t i = 0; i < count; ++i)
      for (std::int64_t c = 0; c < g.group_in(); ++c) {
        const std::int64_t channel = group * g.group_in() + c;
        T* to = in + ((first + i) * g.in_channels + channel) * plane;
        const T* from = columns + c * taps * width + i * pixels;
        std::fill(to, to + plane, bias ? bias[channel] : T(0));
        for_runs(g, [&](std::int64_t tap, std::int64_t pixel, std::int64_t element, std::int64_t n) {
          const T* row = from + tap * width + pixel;
          for (std::int64_t u = 0; u < n; ++u) to[element + u * g.stride[2]] += row[u];
        });
      }
  });
}

template <class T>
void columns_weight(const ConvGeometry& g, const T* in, const T* out, T* weight) {
  const std::int64_t pixels = ConvGeometry::volume(g.out), plane = ConvGeometry::volume(g.in),
                     rows = g.group_out();
  const std::int64_t depth = g.group_in() * ConvGeometry::volume(g.kernel), together = images_together(g);
  // The product over one group of images is shared among threads; groups follow each other, in order.
  const NdArray buffer = scratch<T>((depth + rows) * together * pixels);
  const auto add_images = [&](std::int64_t group, std::int64_t begin, std::int64_t images, T* sums) {
    std::fill_n(sums, rows * depth, T(0));
    for (std::int64_t first = begin; first < begin + images; first += together) {
      const std::int64_t count = std::min(together, begin + images - first), width = count * pixels;
      T* columns = buffer.address_as<T>();
      T* left = columns + depth * width;
      gather_columns(g, in + (first * g.in_channels + group * g.group_in()) * plane, count, columns);
      gather_out(g, out, first, count, group, left);
      gemm<T>({left, rows, width, width, 1}, {columns, width, depth, 1, width}, {sums, rows, depth, depth, 1},
              T(1), T(1));
    }
  };
  constexpr std::int64_t kProducts = 64;  // that a float adds up
  for (std::int64_t group = 0; group < g.groups; ++group)
    sum_by_runs(
        kProducts * together, g.batch, weight + group * rows * depth, rows * depth,
        [&](std::int64_t first, std::int64_t images, T* sums) { add_images(group, first, images, sums); });
}

template void columns_forward(const ConvGeometry&, const float*, const float*, const float*, float*);
template void columns_forward(const ConvGeometry&, const double*, const double*, const double*, double*);
template void columns_input(const ConvGeometry&, const float*, const float*, const float*, float*);
template void columns_input(const ConvGeometry&, const double*, const double*, const double*, double*);
template void columns_weight(const ConvGeometry&, const float*, const float*, float*);
template void columns_weight(const ConvGeometry&, const double*, const double*, double*);

}  // namespace ebb::cpu::conv
