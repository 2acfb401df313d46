// Convolution with adjacent results of a row in vector lanes: the forward pass and the input gradient as sums
// over windows, and the weight's gradient.
#include <ebb/core/ndarray.h>

#include "core/parallel_for.h"
#include "kernel/cpu/parts.h"
#include "ops/conv/correlate.h"
#include "ops/conv/cpu_tile.h"

#include <algorithm>

namespace ebb::cpu::conv {
namespace {

std::int64_t packets_of(std::int64_t elements, std::int64_t width) { return (elements + width - 1) / width; }

// Packs the weights as panels of rows. For k = 0, 1, ..., a panel contains the weights k of all of its rows.
template <class T>
NdArray pack_panels(const Correlation<T>& c) {
  const std::int64_t taps = static_cast<std::int64_t>(c.reading.taps.size()), depth = c.reading.depth();
  NdArray packed = NdArray::empty({c.groups * c.rows * depth}, sizeof(T) == 4 ? kFloat : kDouble);
  const std::int64_t panels = (c.rows + kRows - 1) / kRows;
  T* data = packed.address_as<T>();
  const std::int64_t grain = std::max<std::int64_t>(1, kGrain / (kRows * std::max<std::int64_t>(depth, 1)));
  parallel_for(0, c.groups * panels, grain, [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t i = from; i < to; ++i) {
      const std::int64_t group = i / panels, end = std::min((i % panels + 1) * kRows, c.rows);
      for (std::int64_t row = i % panels * kRows; row < end;) {
        const int n = panel_rows(end - row);
        T* out = data + (group * c.rows + row) * depth;
        for (int r = 0; r < n; ++r) {
          const T* from_row = c.weight.data + group * c.weight.group_step + (row + r) * c.weight.row_step;
          for (std::int64_t k = 0; k < depth; ++k)
            out[k * n + r] =
                from_row[k / taps * c.weight.channel_step +
                         c.reading.taps[static_cast<std::size_t>(k % taps)].index * c.weight.tap_step];
        }
        row += n;
      }
    }
  });
  return packed;
}

// Copies the results of one panel, which are in the layout of windows, to the target.
template <class T>
void store(const Correlation<T>& c, const T* from, std::int64_t from_pitch, int rows, T* plane,
           const Block& block) {
  const Target& t = c.target;
  const std::int64_t width = c.reading.axis[2].out, pitch = width + c.reading.axis[2].reach;
  const std::int64_t plane_size = t.size[0] * t.size[1] * t.size[2];
  const std::int64_t z = t.first[0] + t.step[0] * block.slice;
  for (int r = 0; r < rows; ++r, plane += plane_size)
    for (std::int64_t j = 0; j < block.rows; ++j) {
      const std::int64_t y = t.first[1] + t.step[1] * (block.row + j);
      T* to = plane + (z * t.size[1] + y) * t.size[2] + t.first[2];
      const T* row = from + r * from_pitch + j * pitch;
      if (t.step[2] == 1)
        for (std::int64_t u = 0; u < width; ++u) to[u] = row[u];
      else
        for (std::int64_t u = 0; u < width; ++u) to[u * t.step[2]] = row[u];
    }
}

}  // namespace

template <class T>
void correlate_by_pixels(const Correlation<T>& c) {
  const Reading& r = c.reading;
  const std::int64_t slices = r.axis[0].out, height = r.axis[1].out;
  if (slices == 0 || height == 0 || r.axis[2].out == 0 || c.batch == 0) return;
  const std::int64_t block_rows = rows_of_blocks(r, sizeof(T));
  const std::int64_t blocks = (height + block_rows - 1) / block_rows;
  const Window window(r, block_rows, r.axis[2].out);
  const NdArray packed = pack_panels(c);
  const T* const weight = packed.address_as<T>();
  const std::int64_t depth = r.depth(), packets = packets_of(window.span(block_rows), kWidth<T>);
  const std::int64_t line = packets * kWidth<T>;
  // If there are few images and blocks, the panels are also divided among threads.
  const std::int64_t panels = (c.rows + kRows - 1) / kRows;
  const std::int64_t units = c.batch * c.groups * slices * blocks;
  const std::int64_t splits = std::min(panels, units >= 8 ? 1 : (8 + units - 1) / units);
  const std::int64_t work = c.rows * depth * line / splits;
  const std::int64_t source_group =
      c.source_channels * r.axis[0].source * r.axis[1].source * r.axis[2].source;
  const std::int64_t plane = c.target.size[0] * c.target.size[1] * c.target.size[2];
  const std::int64_t grain = std::max<std::int64_t>(1, kGrain * 16 / std::max<std::int64_t>(work, 1));
  parallel_for(0, units * splits, grain, [&](std::int64_t from, std::int64_t to) {
    // The buffers are longer than their contents, because packets extend beyond the end of the last row.
    NdArray scratch = NdArray::empty({window.size() + line + 2 * kWidth<T> + kRows * line},
                                     sizeof(T) == 4 ? kFloat : kDouble);
    T* in = scratch.address_as<T>();
    T* out = in + window.size() + line + 2 * kWidth<T>;
    std::fill(in + window.size(), out, T(0));
    std::int64_t filled = -1;
    for (std::int64_t i = from; i < to; ++i) {
      const std::int64_t unit = i / splits, split = i % splits;
      const std::int64_t image = unit / (c.groups * slices * blocks),
                         group = unit / (slices * blocks) % c.groups;
      Block block{unit / blocks % slices, unit % blocks * block_rows, block_rows, 0, r.axis[2].out};
      block.rows = std::min(block_rows, height - block.row);
      if (filled != unit)
        window.fill(in, c.source + (image * c.groups + group) * source_group, r.channels, block);
      filled = unit;
      const std::int64_t todo = packets_of(window.span(block.rows), kWidth<T>);
      const std::int64_t last = std::min((split + 1) * panels / splits * kRows, c.rows);
      for (std::int64_t row = split * panels / splits * kRows; row < last;) {
        const int rows = panel_rows(last - row);
        const std::int64_t channel = group * c.rows + row;
        panel<T>(rows, weight + channel * depth, in, window.shifts().data(), depth, out, line,
                 c.bias ? c.bias + channel : nullptr, todo);
        store(c, out, line, rows, c.result + (image * c.groups * c.rows + channel) * plane, block);
        row += rows;
      }
    }
  });
}

template <class T>
void weight_by_pixels(const ConvGeometry& g, const Reading& r, const T* in, const T* out, T* weight) {
  const std::int64_t rows = g.group_out(), depth = r.depth(), slices = g.out[0], height = g.out[1],
                     width = g.out[2];
  if (g.batch * slices * height * width == 0) return std::fill(weight, weight + g.out_channels * depth, T(0));
  const std::int64_t block_rows = rows_of_blocks(r, sizeof(T));
  const std::int64_t blocks = (height + block_rows - 1) / block_rows;
  const Window window(r, block_rows, r.axis[2].out);
  const std::int64_t packets = packets_of(window.span(block_rows), kWidth<T>), line = packets * kWidth<T>;
  const std::int64_t panels = (rows + kRows - 1) / kRows;
  const std::int64_t entries = g.batch * slices * blocks;
  // `together` blocks are processed together, so that sums stay in registers longer. Their windows must fit
  // into the cache.
  const std::int64_t window_step = window.size() + line + kWidth<T>, left_step = kRows * panels * line;
  const std::int64_t bytes = (window_step + left_step) * static_cast<std::int64_t>(sizeof(T));
  constexpr std::int64_t kPackets = 1024, kPieces = 64;  // packets in a sum; sums in a float accumulator
  const std::int64_t together = std::clamp<std::int64_t>(std::min(768 * 1024 / bytes, kPackets / packets), 1,
                                                         std::min<std::int64_t>(entries, 32));
  const std::int64_t in_plane = g.in[0] * g.in[1] * g.in[2], out_plane = slices * height * width;
  parallel_for(0, g.groups * panels, 1, [&](std::int64_t from, std::int64_t to) {
    NdArray scratch =
        NdArray::empty({together * (window_step + left_step)}, sizeof(T) == 4 ? kFloat : kDouble);
    T* windows = scratch.address_as<T>();
    T* lefts = windows + together * window_step;
    std::fill(windows, lefts + together * left_step, T(0));
    for (std::int64_t group = from / panels; group * panels < to; ++group) {
      const std::int64_t first = std::max<std::int64_t>(from - group * panels, 0);
      const std::int64_t last = std::min(to - group * panels, panels);
      const std::int64_t row_end = std::min(last * kRows, rows);
      const std::int64_t numel = (row_end - first * kRows) * depth;
      const auto add_entries = [&](std::int64_t begin, std::int64_t some, T* sums) {
        const std::int64_t end = begin + some;
        std::fill_n(sums, numel, T(0));
        for (std::int64_t start = begin; start < end; start += together) {
          const std::int64_t count = std::min(together, end - start);
          for (std::int64_t e = 0; e < count; ++e) {
            const std::int64_t entry = start + e, image = entry / (slices * blocks);
            Block block{entry / blocks % slices, entry % blocks * block_rows, block_rows, 0, width};
            block.rows = std::min(block_rows, height - block.row);
            window.fill(windows + e * window_step,
                        in + (image * g.in_channels + group * r.channels) * in_plane, r.channels, block);
            for (std::int64_t row = first * kRows; row < row_end; ++row) {
              const T* source = out + (image * g.out_channels + group * rows + row) * out_plane +
                                (block.slice * height + block.row) * width;
              T* to_line = lefts + e * left_step + row * line;
              std::fill(to_line, to_line + line, T(0));
              for (std::int64_t j = 0; j < block.rows; ++j)
                for (std::int64_t u = 0; u < width; ++u)
                  to_line[j * window.pitch() + u] = source[j * width + u];
            }
          }
          for (std::int64_t row = first * kRows; row < row_end;) {
            const int n = panel_rows(row_end - row);
            T* const result = sums + (row - first * kRows) * depth;
            const auto run = [&]<int R>() {
              for (std::int64_t p = 0; p < packets; p += kPackets) {
                const std::int64_t at = p * kWidth<T>;
                const Lines<T> lines{lefts + row * line + at, line, left_step, windows + at, window_step};
                correlate_rows<T, R>(lines, window.shifts().data(), depth, std::min(kPackets, packets - p),
                                     count, result, depth);
              }
            };
            if constexpr (kRows >= 8)
              if (n == 8) run.template operator()<8>();
            if (n == 4)
              run.template operator()<4>();
            else if (n == 2)
              run.template operator()<2>();
            else if (n == 1)
              run.template operator()<1>();
            row += n;
          }
        }
      };
      sum_by_runs(kPieces * together, entries, weight + (group * rows + first * kRows) * depth, numel,
                  add_entries);
    }
  });
}

template void correlate_by_pixels(const Correlation<float>&);
template void correlate_by_pixels(const Correlation<double>&);
template void weight_by_pixels(const ConvGeometry&, const Reading&, const float*, const float*, float*);
template void weight_by_pixels(const ConvGeometry&, const Reading&, const double*, const double*, double*);

}  // namespace ebb::cpu::conv
