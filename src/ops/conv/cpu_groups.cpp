// Depthwise convolution of channels-last images, with channels in vector lanes. Each group has one channel.
#include <ebb/core/ndarray.h>

#include "core/parallel_for.h"
#include "kernel/cpu/parts.h"
#include "kernel/cpu/tile.h"
#include "ops/conv/correlate.h"

#include <algorithm>

namespace ebb::cpu::conv {
namespace {

using tiles::kWidth;
using tiles::Packet;
using tiles::padded;
namespace simd = Eigen::internal;

constexpr std::int64_t kMost = 64;  // channels of a window

// The windows of some channels: blocks of rows of an image.
struct Strips {
  Reading reading;
  std::int64_t block_rows, blocks, slices;
  Window window;

  Strips(const Reading& r, std::int64_t channels, std::int64_t element_size)
      : reading(with_channels(r, channels)),
        block_rows(rows_of_blocks(reading, element_size)),
        blocks((r.axis[1].out + block_rows - 1) / block_rows),
        slices(r.axis[0].out),
        window(reading, block_rows, r.axis[2].out) {}
  Strips(const Strips&) = delete;

  std::int64_t of_image() const { return slices * blocks; }
  Block block(std::int64_t i) const {
    const std::int64_t row = i % blocks * block_rows;
    return {i / blocks % slices, row, std::min(block_rows, reading.axis[1].out - row), 0,
            reading.axis[2].out};
  }
  static Reading with_channels(Reading r, std::int64_t channels) {
    r.channels = channels;
    return r;
  }
};

// Computes R adjacent results of a row for one register of channels. The first row of `weight` is the bias.
template <class T, int R>
void sum_taps(const T* weight, std::int64_t weight_step, const T* in, const std::int64_t* shift,
              std::int64_t taps, std::int64_t in_step, T* out, std::int64_t out_step) {
  Packet<T> sum[R];
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) sum[r] = simd::ploadu<Packet<T>>(weight);
  for (std::int64_t t = 0; t < taps; ++t) {
    weight += weight_step;
    const Packet<T> factor = simd::ploadu<Packet<T>>(weight);
    const T* const x = in + shift[t];
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r)
      sum[r] = simd::pmadd(simd::ploadu<Packet<T>>(x + r * in_step), factor, sum[r]);
  }
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) simd::pstoreu(out + r * out_step, sum[r]);
}

// Adds to sums[k][.] the sum over `rows` rows of `width` pixels of `out` times the pixels of the window at K
// taps, for one register of channels.
template <class T, int K>
void sum_pixels(const T* in, const std::int64_t* shift, std::int64_t in_step, std::int64_t in_pitch,
                const T* out, std::int64_t out_step, std::int64_t rows, std::int64_t width, T* sums,
                std::int64_t sums_step) {
  Packet<T> sum[K];
  const T* at[K];
#pragma GCC unroll 9
  for (int k = 0; k < K; ++k) sum[k] = simd::pset1<Packet<T>>(T(0));
  for (std::int64_t j = 0; j < rows; ++j) {
#pragma GCC unroll 9
    for (int k = 0; k < K; ++k) at[k] = in + j * in_pitch + shift[k];
    for (std::int64_t u = 0; u < width; ++u, out += out_step) {
      const Packet<T> factor = simd::ploadu<Packet<T>>(out);
#pragma GCC unroll 9
      for (int k = 0; k < K; ++k)
        sum[k] = simd::pmadd(simd::ploadu<Packet<T>>(at[k] + u * in_step), factor, sum[k]);
    }
  }
#pragma GCC unroll 9
  for (int k = 0; k < K; ++k, sums += sums_step)
    simd::pstoreu(sums, simd::padd(simd::ploadu<Packet<T>>(sums), sum[k]));
}

// Returns [bias, taps][groups], where the groups are padded to whole registers.
template <class T>
NdArray pack(const Correlation<T>& c) {
  const std::int64_t taps = c.reading.depth(), lanes = padded<T>(c.groups);
  NdArray packed = NdArray::empty({(1 + taps) * lanes}, dtype_of<T>());
  T* to = packed.address_as<T>();
  std::fill_n(to, (1 + taps) * lanes, T(0));
  if (c.bias) std::copy_n(c.bias, c.groups, to);
  for (const Tap& tap : c.reading.taps) {
    to += lanes;
    for (std::int64_t g = 0; g < c.groups; ++g)
      to[g] = c.weight.data[g * c.weight.group_step + tap.index * c.weight.tap_step];
  }
  return packed;
}

}  // namespace

template <class T>
void correlate_by_groups(const Correlation<T>& c) {
  const Reading& r = c.reading;
  const Target& t = c.target;
  const std::int64_t width = r.axis[2].out, taps = r.depth(), lanes = padded<T>(c.groups);
  if (r.axis[0].out * r.axis[1].out * width * c.batch == 0) return;
  const Strips strips(r, std::min(c.groups, kMost), sizeof(T));
  const Window& window = strips.window;
  const NdArray packed = pack(c);
  const std::int64_t parts = (c.groups + kMost - 1) / kMost, units = c.batch * strips.of_image() * parts;
  const std::int64_t work = strips.block_rows * width * taps * std::min(c.groups, kMost) / kWidth<T>;
  const std::int64_t out_step = t.step[2] * c.layout.pixel;
  constexpr int kPixels = 8;
  parallel_for(0, units, std::max<std::int64_t>(1, kGrain / std::max<std::int64_t>(work, 1)),
               [&](std::int64_t from, std::int64_t to) {
                 // The last register of channels may extend beyond the window.
                 const NdArray scratch =
                     NdArray::empty({window.size() + (1 + kPixels) * kWidth<T>}, dtype_of<T>());
                 T* const in = scratch.address_as<T>();
                 T* const partial = in + window.size() + kWidth<T>;
                 std::fill(in, partial, T(0));
                 for (std::int64_t i = from; i < to; ++i) {
                   const std::int64_t image = i / (parts * strips.of_image()), first = i % parts * kMost;
                   const std::int64_t channels = std::min(kMost, c.groups - first);
                   const Block block = strips.block(i / parts);
                   window.fill(in, c.source + image * r.layout.image + first, channels, block);
                   const std::int64_t z = t.first[0] + t.step[0] * block.slice;
                   for (std::int64_t j = 0; j < block.rows; ++j) {
                     const std::int64_t y = t.first[1] + t.step[1] * (block.row + j);
                     T* const row = c.result + image * c.layout.image + first +
                                    ((z * t.size[1] + y) * t.size[2] + t.first[2]) * c.layout.pixel;
                     for (std::int64_t p = 0; p < channels; p += kWidth<T>) {
                       const std::int64_t some = std::min<std::int64_t>(kWidth<T>, channels - p);
                       std::int64_t u = 0;
                       const auto take = [&]<int R>() {
                         for (; u + R <= width; u += R) {
                           T* const out = row + u * out_step + p;
                           const bool whole = some == kWidth<T>;
                           sum_taps<T, R>(packed.address_as<T>() + first + p, lanes,
                                          in + j * window.pitch() + u * window.pixel_step() + p,
                                          window.shifts().data(), taps, window.pixel_step(),
                                          whole ? out : partial, whole ? out_step : kWidth<T>);
                           if (!whole)
                             for (int k = 0; k < R; ++k)
                               std::copy_n(partial + k * kWidth<T>, some, out + k * out_step);
                         }
                       };
                       take.template operator()<kPixels>();
                       take.template operator()<1>();
                     }
                   }
                 }
               });
}

template <class T>
void weight_by_groups(const ConvGeometry& g, const Reading& r, const T* in, const T* out, T* weight) {
  const std::int64_t taps = r.depth(), width = g.out[2], plane = ConvGeometry::volume(g.out);
  if (g.batch * plane == 0) return std::fill(weight, weight + g.groups * taps, T(0));
  const Strips strips(r, std::min(g.groups, kMost), sizeof(T));
  const Window& window = strips.window;
  const std::int64_t parts = (g.groups + kMost - 1) / kMost, entries = g.batch * strips.of_image();
  // The blocks of a part are divided into slices, whose sums are added at the end.
  std::int64_t slices = std::clamp<std::int64_t>(16 / parts, 1, entries);
  const std::int64_t each = (entries + slices - 1) / slices;
  slices = (entries + each - 1) / each;
  const NdArray totals = NdArray::empty({slices * parts * taps * kMost}, kDouble);
  // The rounding error of a sum grows with its length: sums of about 96 pixels are added within a block, and
  // the sums of blocks in double.
  const std::int64_t columns_of_sum = part_of<96>(width), rows_of_sum = std::max<std::int64_t>(1, 96 / width);
  parallel_for(0, slices * parts, 1, [&](std::int64_t from, std::int64_t to) {
    const std::int64_t out_size = strips.block_rows * width * kWidth<T>;
    const NdArray scratch =
        NdArray::empty({window.size() + kWidth<T> + out_size + taps * kMost}, dtype_of<T>());
    T* const windows = scratch.address_as<T>();
    T* const partial = windows + window.size() + kWidth<T>;
    T* const sums = partial + out_size;
    std::fill(windows, sums, T(0));
    for (std::int64_t i = from; i < to; ++i) {
      const std::int64_t first = i % parts * kMost, channels = std::min(kMost, g.groups - first);
      double* const total = totals.address_as<double>() + i * taps * kMost;
      std::fill_n(total, taps * kMost, 0.0);
      const std::int64_t begin = i / parts * each;
      for (std::int64_t e = begin; e < std::min(begin + each, entries); ++e) {
        const std::int64_t image = e / strips.of_image();
        const Block block = strips.block(e);
        window.fill(windows, in + image * r.layout.image + first, channels, block);
        std::fill_n(sums, taps * kMost, T(0));
        const T* const source =
            out + (image * plane + (block.slice * g.out[1] + block.row) * width) * g.groups + first;
        for (std::int64_t p = 0; p < channels; p += kWidth<T>) {
          const std::int64_t some = std::min<std::int64_t>(kWidth<T>, channels - p);
          const bool whole = some == kWidth<T>;
          if (!whole) copy_pixels(source + p, g.groups, block.rows * width, some, partial, kWidth<T>);
          const T* const right = whole ? source + p : partial;
          const std::int64_t right_step = whole ? g.groups : kWidth<T>;
          std::int64_t k = 0;
          const auto take = [&]<int K>() {
            for (; k + K <= taps; k += K)
              for (std::int64_t j = 0; j < block.rows; j += rows_of_sum)
                for (std::int64_t u = 0; u < width; u += columns_of_sum)
                  sum_pixels<T, K>(windows + j * window.pitch() + u * window.pixel_step() + p,
                                   window.shifts().data() + k, window.pixel_step(), window.pitch(),
                                   right + (j * width + u) * right_step, right_step,
                                   std::min(rows_of_sum, block.rows - j), std::min(columns_of_sum, width - u),
                                   sums + k * kMost + p, kMost);
          };
          take.template operator()<9>();
          take.template operator()<4>();
          take.template operator()<1>();
        }
        for (std::int64_t s = 0; s < taps * kMost; ++s) total[s] += static_cast<double>(sums[s]);
      }
    }
  });
  const double* const total = totals.address_as<double>();
  for (std::int64_t group = 0; group < g.groups; ++group)
    for (std::int64_t t = 0; t < taps; ++t) {
      double sum = 0;
      for (std::int64_t s = 0; s < slices; ++s)
        sum += total[((s * parts + group / kMost) * taps + t) * kMost + group % kMost];
      weight[group * taps + t] = static_cast<T>(sum);
    }
}

template void correlate_by_groups(const Correlation<float>&);
template void correlate_by_groups(const Correlation<double>&);
template void weight_by_groups(const ConvGeometry&, const Reading&, const float*, const float*, float*);
template void weight_by_groups(const ConvGeometry&, const Reading&, const double*, const double*, double*);

}  // namespace ebb::cpu::conv
