// Forward pass and input gradient with channels of the result in vector lanes.
#include <ebb/core/ndarray.h>

#include "core/parallel_for.h"
#include "kernel/cpu/amx.h"
#include "kernel/cpu/transpose.h"
#include "ops/conv/correlate.h"
#include "ops/conv/loads.h"

#include <algorithm>

namespace ebb::cpu::conv {
namespace {

// Packs the weights as panels of rows. Each panel is [depth][rows of the panel], where the rows are padded to
// whole packets. Results of the padding are not used.
template <class T>
NdArray pack(const Correlation<T>& c) {
  const std::int64_t taps = static_cast<std::int64_t>(c.reading.taps.size()), depth = c.reading.depth();
  const std::int64_t panels = panels_of<T>(c.rows), lanes = tiles::padded<T>(c.rows);
  const Weights<const T>& w = c.weight;
  NdArray packed = NdArray::empty({c.groups * lanes * depth}, dtype_of<T>());
  T* const data = packed.address_as<T>();
  const auto tap_at = [&](std::int64_t t) {
    return c.reading.taps[static_cast<std::size_t>(t)].index * w.tap_step;
  };
  // True if the taps of a channel are stored consecutively and in order.
  bool dense = true;
  for (std::int64_t t = 0; t < taps; ++t) dense = dense && tap_at(t) == t;
  const std::int64_t run = dense && w.channel_step == taps ? depth : taps;
  constexpr std::int64_t kSide = tiles::kWidth<T>;
  parallel_for(0, c.groups * panels, 1, [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t i = from; i < to; ++i) {
      const std::int64_t group = i / panels, first = i % panels * kPanel<T>;
      const std::int64_t rows = std::min(kPanel<T>, c.rows - first), pitch = tiles::padded<T>(rows);
      T* panel = data + (group * lanes + first) * depth;
      const T* source = w.data + group * w.group_step + first * w.row_step;
      if (w.row_step == 1) {
        for (std::int64_t k = 0; k < depth; ++k)
          std::copy_n(source + k / taps * w.channel_step + tap_at(k % taps), rows, panel + k * pitch);
        continue;
      }
      if (!dense && w.channel_step == 1) {
        for (std::int64_t t = 0; t < taps; ++t)
          transpose(source + tap_at(t), w.row_step, rows, c.reading.channels, panel + t * pitch,
                    taps * pitch);
        continue;
      }
      for (std::int64_t k = 0; k < depth; k += run, panel += run * pitch) {
        const T* at = source + k / taps * w.channel_step;
        // Transposes whole squares if the additional elements belong to the next channel, which overwrites
        // them later.
        const bool square = run < kSide && 2 * run >= kSide && k + 2 * run <= depth;
        if (dense)
          transpose(at, w.row_step, rows, square ? kSide : run, panel, pitch);
        else
          for (std::int64_t t = 0; t < taps; ++t)
            for (std::int64_t r = 0; r < rows; ++r) panel[t * pitch + r] = at[r * w.row_step + tap_at(t)];
      }
    }
  });
  return packed;
}

// Returns the position of a block's first result among the pixels of the target.
std::int64_t first_pixel(const Target& t, const Block& block) {
  const std::int64_t z = t.first[0] + t.step[0] * block.slice, y = t.first[1] + t.step[1] * block.row;
  return (z * t.size[1] + y) * t.size[2] + t.first[2] + t.step[2] * block.column;
}

// Stores the results [pixel][rows] of one block. The pixels are `pitch` apart. `to` is the first result.
template <class T>
void store(const Correlation<T>& c, const T* from, std::int64_t pitch, std::int64_t rows, T* to,
           const Block& block, T* line) {
  const Target& t = c.target;
  const std::int64_t width = block.columns, plane = c.layout.channel, line_step = t.step[1] * t.size[2];
  if (c.layout.interleaved()) {
    for (std::int64_t j = 0; j < block.rows; ++j)
      copy_pixels(from + j * width * pitch, pitch, width, rows, to + j * line_step * c.layout.pixel,
                  t.step[2] * c.layout.pixel);
    return;
  }
  if (t.step[2] == 1 && (block.rows == 1 || (t.step[1] == 1 && width == t.size[2])))
    return transpose(from, pitch, block.rows * width, rows, to, plane);
  for (std::int64_t j = 0; j < block.rows; ++j) {
    transpose(from + j * width * pitch, pitch, width, rows, line, width);
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t u = 0; u < width; ++u)
        to[r * plane + j * line_step + u * t.step[2]] = line[r * width + u];
  }
}

}  // namespace

template <class T, class Element>
void correlate_by_channels(const Correlation<T>& c) {
  const Reading& r = c.reading;
  const Target& target = c.target;
  const std::int64_t depth = r.depth(), lanes = tiles::padded<T>(c.rows), panels = panels_of<T>(c.rows);
  if (r.axis[0].out * r.axis[1].out * r.axis[2].out * c.batch == 0) return;
  const Loads loads(r, c.batch, 512, 640 * 1024, sizeof(T));
  const Window& window = loads.window();
  const NdArray packed = pack(c);
  const T* const weight = packed.address_as<T>();
  // True if the results of a load are adjacent in the target, in whole registers.
  const bool direct =
      c.layout.interleaved() && lanes == c.rows && target.step[0] * target.step[1] * target.step[2] == 1;
  // If there are few loads (groups of blocks that are computed together), the panels are also divided among
  // threads.
  const std::int64_t units = loads.count() * c.groups;
  const std::int64_t splits = std::min(panels, units >= 8 ? 1 : (8 + units - 1) / units);
  const std::int64_t work = c.rows * depth * loads.pixels() / splits;
  const std::int64_t grain = std::max<std::int64_t>(1, kGrain * 16 / std::max<std::int64_t>(work, 1));
  const std::int64_t part = part_of<128>(depth);
  parallel_for(0, units * splits, grain, [&](std::int64_t from, std::int64_t to) {
    const std::int64_t windows_size = window.in_place() ? 0 : loads.size();
    const std::int64_t sums_size = direct ? 0 : loads.pixels() * kPanel<T>;
    const NdArray scratch =
        NdArray::empty({windows_size + sums_size + r.axis[2].out * kPanel<T>}, dtype_of<T>());
    T* const windows = scratch.address_as<T>();
    T* const sums = windows + windows_size;
    std::int64_t filled = -1;
    for (std::int64_t i = from; i < to; ++i) {
      const std::int64_t unit = i / splits, split = i % splits;
      const std::int64_t load = unit / c.groups, group = unit % c.groups;
      const T* in = windows;
      T* adjacent = c.result;  // the results of the load's first pixel
      const std::int64_t pixels = loads.for_blocks(
          load, [&](std::int64_t image, const Block& block, std::int64_t q, std::int64_t, std::int64_t at) {
            const T* const source =
                c.source + image * r.layout.image + group * c.source_channels * r.layout.channel;
            if (!window.in_place() && filled != unit) window.fill(windows + at, source, r.channels, block);
            if (q != 0) return;
            if (window.in_place()) in = source + block.column * r.layout.pixel;
            adjacent += image * c.layout.image + first_pixel(target, block) * c.layout.pixel;
          });
      filled = unit;
      for (std::int64_t p = split * panels / splits; p < (split + 1) * panels / splits; ++p) {
        const std::int64_t first = p * kPanel<T>, rows = std::min(kPanel<T>, c.rows - first);
        const std::int64_t pitch = tiles::padded<T>(rows), channel = group * c.rows + first;
        const T* const panel = weight + (group * lanes + first) * depth;
        T* const out = direct ? adjacent + channel : sums;
        const std::int64_t out_pitch = direct ? c.layout.pixel : pitch;
        if (c.bias)
          for (std::int64_t q = 0; q < pixels; ++q) std::copy_n(c.bias + channel, rows, out + q * out_pitch);
        for (std::int64_t k = 0; k < depth; k += part)
          tiles::fastest_product<Element>(
              pixels, pitch, std::min(part, depth - k),
              tiles::ScatteredLeft<Element>{reinterpret_cast<const Element*>(in), loads.positions().data(),
                                            window.shifts().data() + k},
              reinterpret_cast<const Element*>(panel + k * pitch), pitch, out, out_pitch, c.bias || k > 0);
        if (direct) continue;
        loads.for_blocks(
            load, [&](std::int64_t image, const Block& block, std::int64_t q, std::int64_t, std::int64_t) {
              store(c, sums + q * pitch, pitch, rows,
                    c.result + image * c.layout.image + channel * c.layout.channel +
                        first_pixel(target, block) * c.layout.pixel,
                    block, sums + sums_size);
            });
      }
    }
  });
}

template void correlate_by_channels(const Correlation<float>&);
template void correlate_by_channels(const Correlation<double>&);
#if EBB_BFLOAT16_PAIRS
template void correlate_by_channels<float, tiles::Pair>(const Correlation<float>&);
#endif

}  // namespace ebb::cpu::conv
