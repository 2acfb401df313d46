// Windows: copies of parts of an image, which the CPU kernels of convolution read at constant shifts.
//
// A window is the part of an image that is needed for some rows of the result. It is copied once, with
// padding, so that its rows are stored consecutively. Each tap of the kernel then reads the window at a
// constant offset. The convolution is therefore a matrix product whose right operand needs no further copy:
// its element (tap, q) is window[shift(tap) + q], where q counts positions along the window's rows. The few
// results between two rows of the output are computed and dropped.
//
// A stride divides the image into phases (every stride-th row and column); each phase has its own window.
//
// The window of a channels-last image contains the channels of a pixel next to each other, so that it is
// filled by copies of whole pixels.
#pragma once

#include "ops/conv/kernels.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

namespace ebb::cpu::conv {

/// The distances between the elements of images in memory. The pixels of a channel are in row-major order.
struct Layout {
  std::int64_t image, channel, pixel;

  /// Returns whether the layout is channels-last.
  bool interleaved() const { return pixel != 1; }
};

/// One tap: for each axis the phase that it reads and its shift within the phase.
struct Tap {
  std::int64_t index;  // row-major index in the kernel
  int phase;           // index in Reading::phases
  std::int64_t shift[3];
};

/// The mapping of one axis of the source to the window. In the window, position u of a phase is position
/// step * u + phase - padding of the source.
struct Axis {
  std::int64_t source = 1;  // the size of the source
  std::int64_t out = 1;     // the size of the grid of results
  std::int64_t reach = 0;   // the largest shift of a tap
  std::int64_t step = 1;
  std::int64_t padding = 0;  // may be negative
};

struct Phase {
  std::int64_t at[3];
};

struct Reading {
  Axis axis[3];
  std::vector<Phase> phases;
  std::vector<Tap> taps;
  std::int64_t channels = 1;  // channels of the source in one group
  Layout layout;              // of the source

  std::int64_t depth() const { return static_cast<std::int64_t>(taps.size()) * channels; }
};

/// Returns how the forward pass reads `in`.
Reading forward_reading(const ConvGeometry& geometry, const Layout& layout);

/// Copies `count` pixels of `channels` channels. The pixels are `from_step` and `to_step` apart.
template <class T>
void copy_pixels(const T* from, std::int64_t from_step, std::int64_t count, std::int64_t channels, T* to,
                 std::int64_t to_step) {
  constexpr std::int64_t kLine = 16;
  if (channels == from_step && channels == to_step) {
    std::memcpy(to, from, static_cast<std::size_t>(count * channels) * sizeof(T));
  } else if (channels < kLine) {
    for (std::int64_t c = 0; c < channels; ++c)
      for (std::int64_t u = 0; u < count; ++u) to[u * to_step + c] = from[u * from_step + c];
  } else {
    // If the number of channels is not a multiple of kLine, the last two copies of a pixel overlap.
    for (std::int64_t u = 0; u < count; ++u, from += from_step, to += to_step)
      for (std::int64_t c = 0; c < channels; c += kLine) {
        const std::int64_t at = std::min(c, channels - kLine);
        std::memcpy(to + at, from + at, kLine * sizeof(T));
      }
  }
}

/// to[i] = from[2 * i] for i < count.
template <class T>
void copy_every_second(const T* from, std::int64_t count, T* to) {
  std::int64_t i = 0;
  if constexpr (sizeof(T) == 4) {
    typedef std::uint32_t Eight __attribute__((vector_size(32)));
    // The second vector begins with an element that is not used, so that no element after the last one is
    // read. If the count is not a multiple of 8, the last two copies overlap.
    for (; i < count && count >= 8; i += 8) {
      const std::int64_t at = i + 8 > count ? count - 8 : i;
      Eight low, high;
      std::memcpy(&low, from + 2 * at, sizeof low);
      std::memcpy(&high, from + 2 * at + 7, sizeof high);
      low = __builtin_shufflevector(low, high, 0, 2, 4, 6, 9, 11, 13, 15);
      std::memcpy(to + at, &low, sizeof low);
    }
  }
  for (; i < count; ++i) to[i] = from[2 * i];
}

/// A block of the result: the rows [row, row + rows) and columns [column, column + columns) of slice `slice`
/// (an index of the first axis).
struct Block {
  std::int64_t slice;
  std::int64_t row;
  std::int64_t rows;
  std::int64_t column;
  std::int64_t columns;
};

/// The layout of the window of a block. It is the same for all blocks of up to `rows` rows and `columns`
/// columns.
class Window {
 public:
  Window(const Reading& reading, std::int64_t rows, std::int64_t columns);

  std::int64_t size() const { return size_; }
  /// Returns the offsets of all (channel, tap) pairs from the window's start, channels outermost.
  const std::vector<std::int64_t>& shifts() const { return shifts_; }
  /// Returns the distance of two pixels of a row, and the row stride.
  std::int64_t pixel_step() const { return pixel_step_; }
  std::int64_t pitch() const { return pitch_ * pixel_step_; }
  /// Returns whether the window has the layout of a part of the source, so that it need not be filled.
  bool in_place() const { return in_place_; }
  /// Returns the number of window positions that a block of `rows` rows covers, up to the end of its last
  /// row.
  std::int64_t span(std::int64_t rows) const { return (rows - 1) * pitch_ + reading_.axis[2].out; }

  /// Copies the first `channels` channels of one image to the window. `source` is the first element of the
  /// image's first channel.
  template <class T>
  void fill(T* window, const T* source, std::int64_t channels, const Block& block) const;

 private:
  /// Calls copy(first pixel of the window's row, pixel of the source, first, last) for the window's rows. The
  /// columns [first, last) are inside the source; the pixel of the source belongs to column 0.
  template <class Copy>
  void for_rows(const Block& block, const Copy& copy) const;

  const Reading& reading_;
  bool in_place_;
  std::int64_t pixel_step_;
  std::int64_t pitch_;   // pixels of a window row
  std::int64_t height_;  // rows of a window slice
  std::int64_t slice_size_;
  std::int64_t phase_size_;
  std::int64_t channel_step_;
  std::int64_t size_;
  std::vector<std::int64_t> shifts_;
};

template <class Copy>
void Window::for_rows(const Block& block, const Copy& copy) const {
  const auto& [a, b, c] = reading_.axis;
  const std::int64_t width = block.columns + c.reach, height = block.rows + b.reach, depth = 1 + a.reach;
  for (std::size_t p = 0; p < reading_.phases.size(); ++p) {
    const Phase& phase = reading_.phases[p];
    const std::int64_t x0 = c.step * block.column + phase.at[2] - c.padding;
    std::int64_t first = x0 >= 0 ? 0 : (-x0 + c.step - 1) / c.step;
    std::int64_t last = c.source - x0 <= 0 ? 0 : (c.source - x0 + c.step - 1) / c.step;
    if (first > width) first = width;
    last = last > width ? width : last < first ? first : last;
    for (std::int64_t i = 0; i < depth; ++i) {
      const std::int64_t z = a.step * (block.slice + i) + phase.at[0] - a.padding;
      for (std::int64_t j = 0; j < height; ++j) {
        const std::int64_t y = b.step * (block.row + j) + phase.at[1] - b.padding;
        const std::int64_t row = static_cast<std::int64_t>(p) * phase_size_ + i * slice_size_ + j * pitch_;
        const bool inside = z >= 0 && z < a.source && y >= 0 && y < b.source;
        copy(row, (z * b.source + y) * c.source + x0, inside ? first : width, inside ? last : width);
      }
    }
  }
}

template <class T>
void Window::fill(T* window, const T* source, std::int64_t channels, const Block& block) const {
  const Layout& layout = reading_.layout;
  const std::int64_t step = reading_.axis[2].step, width = block.columns + reading_.axis[2].reach;
  if (layout.interleaved())
    return for_rows(block, [&](std::int64_t at, std::int64_t pixel, std::int64_t first, std::int64_t last) {
      T* const row = window + at * pixel_step_;
      std::fill_n(row, first * pixel_step_, T(0));
      copy_pixels(source + (pixel + first * step) * layout.pixel, step * layout.pixel, last - first, channels,
                  row + first * pixel_step_, pixel_step_);
      std::fill_n(row + last * pixel_step_, (width - last) * pixel_step_, T(0));
    });
  for (std::int64_t channel = 0; channel < channels;
       ++channel, window += channel_step_, source += layout.channel)
    for_rows(block, [&](std::int64_t at, std::int64_t pixel, std::int64_t first, std::int64_t last) {
      T* const row = window + at;
      const T* const from = source + pixel;
      for (std::int64_t u = 0; u < first; ++u) row[u] = T(0);
      if (step == 1)
        std::memcpy(row + first, from + first, static_cast<std::size_t>(last - first) * sizeof(T));
      else if (step == 2)
        copy_every_second(from + first * 2, last - first, row + first);
      else
        for (std::int64_t u = first; u < last; ++u) row[u] = from[u * step];
      for (std::int64_t u = last; u < width; ++u) row[u] = T(0);
    });
}

/// Returns the number of rows of a block for which the window fits into the cache.
std::int64_t rows_of_blocks(const Reading& reading, std::int64_t element_size);

}  // namespace ebb::cpu::conv
