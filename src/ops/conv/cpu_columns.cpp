// Convolution as a matrix product with a column matrix (im2col).
#include <ebb/core/ndarray.h>

#include "core/parallel_for.h"
#include "kernel/cpu/gemm.h"
#include "kernel/cpu/parts.h"
#include "ops/conv/correlate.h"

#include <algorithm>

namespace ebb::cpu::conv {
namespace {

// Returns the number of images in a column matrix. Several images with small results share one matrix, so
// that the product is worth its setup. The number of images depends only on the shapes.
std::int64_t images_per_matrix(const ConvGeometry& g) {
  const std::int64_t pixels = std::max<std::int64_t>(ConvGeometry::volume(g.out), 1);
  return std::clamp<std::int64_t>(64 / pixels, 1, std::max<std::int64_t>(g.batch, 1));
}

template <class T>
NdArray scratch(std::int64_t elements) {
  return NdArray::empty({elements}, sizeof(T) == 4 ? kFloat : kDouble);
}

// The column matrix, [channel, tap] by [image, pixel], which is contiguous along its runs. A run is a
// sequence of entries that correspond to elements of one row of the image. It extends along the last axis of
// the outputs or, if that is shorter than the last axis of the kernel, along the taps.
struct Columns {
  bool by_taps;
  std::int64_t tap_step, pixel_step;
  std::int64_t element_step;  // the distance of consecutive elements of a run

  Columns(const ConvGeometry& g, std::int64_t width) : by_taps(g.kernel[2] > g.out[2]) {
    tap_step = by_taps ? 1 : width;
    pixel_step = by_taps ? g.group_in() * ConvGeometry::volume(g.kernel) : 1;
    element_step = by_taps ? g.dilation[2] : g.stride[2];
  }
  std::int64_t at(std::int64_t tap, std::int64_t pixel) const { return tap * tap_step + pixel * pixel_step; }
};

// For one channel, calls visit(first entry, first element, count) for the part of each run that is inside the
// image.
template <class Visit>
void for_runs(const ConvGeometry& g, const Columns& columns, Visit&& visit) {
  // A run begins at each position of one axis and extends along the other.
  const bool by_taps = columns.by_taps;
  const std::int64_t begins = by_taps ? g.out[2] : g.kernel[2], length = by_taps ? g.kernel[2] : g.out[2];
  const std::int64_t begin_step = by_taps ? g.stride[2] : g.dilation[2], step = columns.element_step;
  const auto row_of_run = [&](std::int64_t tap, std::int64_t pixel, std::int64_t element) {
    for (std::int64_t b = 0; b < begins; ++b) {
      const std::int64_t x0 = b * begin_step - g.padding[2], room = g.in[2] - x0;
      const std::int64_t first = x0 >= 0 ? 0 : std::min((-x0 + step - 1) / step, length);
      const std::int64_t last = room <= 0 ? first : std::clamp((room + step - 1) / step, first, length);
      if (last > first)
        visit(by_taps ? columns.at(tap + first, pixel + b) : columns.at(tap + b, pixel + first),
              element + x0 + first * step, last - first);
    }
  };
  for (std::int64_t k0 = 0; k0 < g.kernel[0]; ++k0)
    for (std::int64_t k1 = 0; k1 < g.kernel[1]; ++k1)
      for (std::int64_t z = 0; z < g.out[0]; ++z) {
        const std::int64_t iz = z * g.stride[0] + k0 * g.dilation[0] - g.padding[0];
        if (iz < 0 || iz >= g.in[0]) continue;
        for (std::int64_t y = 0; y < g.out[1]; ++y) {
          const std::int64_t iy = y * g.stride[1] + k1 * g.dilation[1] - g.padding[1];
          if (iy >= 0 && iy < g.in[1])
            row_of_run((k0 * g.kernel[1] + k1) * g.kernel[2], (z * g.out[1] + y) * g.out[2],
                       (iz * g.in[1] + iy) * g.in[2]);
        }
      }
}

// Fills the column matrix of `count` images of one group.
template <class T>
void gather_columns(const ConvGeometry& g, const T* in, std::int64_t count, const Columns& layout,
                    T* columns) {
  const std::int64_t taps = ConvGeometry::volume(g.kernel), pixels = ConvGeometry::volume(g.out);
  const std::int64_t plane = ConvGeometry::volume(g.in);
  std::fill(columns, columns + g.group_in() * taps * count * pixels, T(0));
  for (std::int64_t i = 0; i < count; ++i)
    for (std::int64_t c = 0; c < g.group_in(); ++c) {
      const T* from = in + (i * g.in_channels + c) * plane;
      T* to = columns + layout.at(c * taps, i * pixels);
      for_runs(g, layout, [&](std::int64_t entry, std::int64_t element, std::int64_t n) {
        for (std::int64_t u = 0; u < n; ++u) to[entry + u] = from[element + u * layout.element_step];
      });
    }
}

// Calls body(first image, count, group) for each column matrix, in parallel.
template <class Body>
void for_groups(const ConvGeometry& g, Body&& body) {
  const std::int64_t together = images_per_matrix(g), tiles = (g.batch + together - 1) / together;
  parallel_for(0, tiles * g.groups, 1, [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t i = from; i < to; ++i) {
      const std::int64_t first = i / g.groups * together;
      body(first, std::min(together, g.batch - first), i % g.groups);
    }
  });
}

// Copies `out` of some images and one group to [channel][image, pixel].
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
    const Columns layout(g, width);
    T* columns = buffer.address_as<T>();
    T* result = columns + depth * width;
    gather_columns(g, in + (first * g.in_channels + group * g.group_in()) * plane, count, layout, columns);
    gemm<T>({weight + group * rows * depth, rows, depth, depth, 1},
            {columns, depth, width, layout.tap_step, layout.pixel_step}, {result, rows, width, width, 1},
            T(1), T(0));
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
    const Columns layout(g, width);
    gather_out(g, out, first, count, group, left);
    if (layout.by_taps)
      gemm<T>({left, width, rows, 1, width}, {weight + group * rows * depth, rows, depth, depth, 1},
              {columns, width, depth, depth, 1}, T(1), T(0));
    else
      gemm<T>({weight + group * rows * depth, depth, rows, 1, depth}, {left, rows, width, width, 1},
              {columns, depth, width, width, 1}, T(1), T(0));
    for (std::int64_t i = 0; i < count; ++i)
      for (std::int64_t c = 0; c < g.group_in(); ++c) {
        const std::int64_t channel = group * g.group_in() + c;
        T* to = in + ((first + i) * g.in_channels + channel) * plane;
        const T* from = columns + layout.at(c * taps, i * pixels);
        std::fill(to, to + plane, bias ? bias[channel] : T(0));
        for_runs(g, layout, [&](std::int64_t entry, std::int64_t element, std::int64_t n) {
          for (std::int64_t u = 0; u < n; ++u) to[element + u * layout.element_step] += from[entry + u];
        });
      }
  });
}

template <class T>
void columns_weight(const ConvGeometry& g, const T* in, const T* out, T* weight) {
  const std::int64_t pixels = ConvGeometry::volume(g.out), plane = ConvGeometry::volume(g.in),
                     rows = g.group_out();
  const std::int64_t depth = g.group_in() * ConvGeometry::volume(g.kernel), together = images_per_matrix(g);
  // All threads together compute the product of one column matrix; the matrices are processed in order.
  const NdArray buffer = scratch<T>((depth + rows) * together * pixels);
  const auto add_images = [&](std::int64_t group, std::int64_t begin, std::int64_t images, T* sums) {
    std::fill_n(sums, rows * depth, T(0));
    for (std::int64_t first = begin; first < begin + images; first += together) {
      const std::int64_t count = std::min(together, begin + images - first), width = count * pixels;
      T* columns = buffer.address_as<T>();
      T* left = columns + depth * width;
      const Columns layout(g, width);
      gather_columns(g, in + (first * g.in_channels + group * g.group_in()) * plane, count, layout, columns);
      gather_out(g, out, first, count, group, left);
      gemm<T>({left, rows, width, width, 1}, {columns, width, depth, layout.pixel_step, layout.tap_step},
              {sums, rows, depth, depth, 1}, T(1), T(1));
    }
  };
  constexpr std::int64_t kProducts = 64;  // the number of products in a float accumulator
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
