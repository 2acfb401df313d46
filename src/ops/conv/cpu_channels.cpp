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
  const Weights<T>& w = c.weight;
  NdArray packed = NdArray::empty({c.groups * lanes * depth}, dtype_of<T>());
  T* const data = packed.address_as<T>();
  // True if all taps are stored consecutively and in order.
  bool dense = true;
  for (std::int64_t t = 0; t < taps; ++t)
    dense = dense && c.reading.taps[static_cast<std::size_t>(t)].index == t;
  const std::int64_t run = dense && w.channel_step == taps ? depth : taps;
  constexpr std::int64_t kSide = tiles::kWidth<T>;
  parallel_for(0, c.groups * panels, 1, [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t i = from; i < to; ++i) {
      const std::int64_t group = i / panels, first = i % panels * kPanel<T>;
      const std::int64_t rows = std::min(kPanel<T>, c.rows - first), pitch = tiles::padded<T>(rows);
      T* panel = data + (group * lanes + first) * depth;
      const T* source = w.data + group * w.group_step + first * w.row_step;
      for (std::int64_t k = 0; k < depth; k += run, panel += run * pitch) {
        const T* at = source + k / taps * w.channel_step;
        // Transposes whole squares if the additional elements belong to the next channel, which overwrites
        // them later.
        const bool square = run < kSide && 2 * run >= kSide && k + 2 * run <= depth;
        if (dense)
          transpose(at, w.row_step, rows, square ? kSide : run, panel, pitch);
        else
          for (std::int64_t t = 0; t < taps; ++t)
            for (std::int64_t r = 0; r < rows; ++r)
              panel[t * pitch + r] = at[r * w.row_step + c.reading.taps[static_cast<std::size_t>(t)].index];
      }
    }
  });
  return packed;
}

// Stores the results [pixel][rows] of one block to planes of the target. The pixels are `pitch` apart.
template <class T>
void store(const Correlation<T>& c, const T* from, std::int64_t pitch, std::int64_t rows, T* planes,
           const Block& block, T* line) {
  const Target& t = c.target;
  const std::int64_t width = block.columns, plane = t.size[0] * t.size[1] * t.size[2];
  const std::int64_t z = t.first[0] + t.step[0] * block.slice, y = t.first[1] + t.step[1] * block.row;
  T* const to = planes + (z * t.size[1] + y) * t.size[2] + t.first[2] + t.step[2] * block.column;
  if (t.step[2] == 1 && (block.rows == 1 || (t.step[1] == 1 && width == t.size[2])))
    return transpose(from, pitch, block.rows * width, rows, to, plane);
  for (std::int64_t j = 0; j < block.rows; ++j) {
    transpose(from + j * width * pitch, pitch, width, rows, line, width);
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t u = 0; u < width; ++u)
        to[r * plane + j * t.step[1] * t.size[2] + u * t.step[2]] = line[r * width + u];
  }
}

}  // namespace

template <class T, class Element>
void correlate_by_channels(const Correlation<T>& c) {
  const Reading& r = c.reading;
  const std::int64_t depth = r.depth(), lanes = tiles::padded<T>(c.rows), panels = panels_of<T>(c.rows);
  if (r.axis[0].out * r.axis[1].out * r.axis[2].out * c.batch == 0) return;
  const Loads loads(r, c.batch, 512, 640 * 1024, sizeof(T));
  const NdArray packed = pack(c);
  const T* const weight = packed.address_as<T>();
  // If there are few loads (groups of blocks that are computed together), the panels are also divided among
  // threads.
  const std::int64_t units = loads.count() * c.groups;
  const std::int64_t splits = std::min(panels, units >= 8 ? 1 : (8 + units - 1) / units);
  const std::int64_t source_plane = r.axis[0].source * r.axis[1].source * r.axis[2].source;
  const std::int64_t plane = c.target.size[0] * c.target.size[1] * c.target.size[2];
  const std::int64_t work = c.rows * depth * loads.pixels() / splits;
  const std::int64_t grain = std::max<std::int64_t>(1, kGrain * 16 / std::max<std::int64_t>(work, 1));
  const std::int64_t part = part_of<128>(depth);
  parallel_for(0, units * splits, grain, [&](std::int64_t from, std::int64_t to) {
    const std::int64_t sums_size = loads.pixels() * kPanel<T>;
    const NdArray scratch =
        NdArray::empty({loads.size() + sums_size + r.axis[2].out * kPanel<T>}, dtype_of<T>());
    T* const in = scratch.address_as<T>();
    T* const sums = in + loads.size();
    std::int64_t filled = -1;
    for (std::int64_t i = from; i < to; ++i) {
      const std::int64_t unit = i / splits, split = i % splits;
      const std::int64_t load = unit / c.groups, group = unit % c.groups;
      const std::int64_t pixels = loads.for_blocks(
          load, [&](std::int64_t image, const Block& block, std::int64_t, std::int64_t, std::int64_t window) {
            if (filled != unit)
              loads.window().fill(in + window,
                                  c.source + (image * c.groups + group) * c.source_channels * source_plane,
                                  r.channels, block);
          });
      filled = unit;
      for (std::int64_t p = split * panels / splits; p < (split + 1) * panels / splits; ++p) {
        const std::int64_t first = p * kPanel<T>, rows = std::min(kPanel<T>, c.rows - first);
        const std::int64_t pitch = tiles::padded<T>(rows), channel = group * c.rows + first;
        const T* const panel = weight + (group * lanes + first) * depth;
        if (c.bias)
          for (std::int64_t q = 0; q < pixels; ++q) std::copy_n(c.bias + channel, rows, sums + q * pitch);
        for (std::int64_t k = 0; k < depth; k += part)
          tiles::fastest_product<Element>(
              pixels, pitch, std::min(part, depth - k),
              tiles::ScatteredLeft<Element>{reinterpret_cast<const Element*>(in), loads.positions().data(),
                                            loads.window().shifts().data() + k},
              reinterpret_cast<const Element*>(panel + k * pitch), pitch, sums, pitch, c.bias || k > 0);
        loads.for_blocks(
            load, [&](std::int64_t image, const Block& block, std::int64_t q, std::int64_t, std::int64_t) {
              store(c, sums + q * pitch, pitch, rows,
                    c.result + (image * c.groups * c.rows + channel) * plane, block, sums + sums_size);
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
