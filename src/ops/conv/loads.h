// Loads: the units of work of convolution on the CPU. The results are divided into blocks. A load is a group
// of blocks whose windows are in the cache at the same time.
// Panels: the groups of channels that a kernel with channels in vector lanes computes together.
#pragma once

#include "kernel/cpu/parts.h"
#include "kernel/cpu/tile.h"
#include "ops/conv/window.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace ebb::cpu::conv {

/// The number of channels of a panel.
template <class T>
constexpr std::int64_t kPanel = tiles::kPackets * tiles::kWidth<T>;

template <class T>
std::int64_t panels_of(std::int64_t channels) {
  return (channels + kPanel<T> - 1) / kPanel<T>;
}

/// The division of the results into blocks and loads. A block is some rows of a slice, or a part of one row.
/// A load is one block of a large image, or several blocks if slices or images are small. The division
/// depends only on the shapes.
class Loads {
 public:
  /// The reading must have results. A load has at most about `pixels` results for each channel, and its
  /// windows have at most about `bytes` bytes.
  Loads(const Reading& reading, std::int64_t batch, std::int64_t pixels, std::int64_t bytes,
        std::int64_t element_size);

  std::int64_t count() const { return (entries_ + per_load_ - 1) / per_load_; }
  /// Return the largest number of results of a load, and the largest number of elements of its windows.
  /// size() is rounded up to whole cache lines, so that the array after the windows is aligned.
  std::int64_t pixels() const { return per_load_ * rows_ * columns_; }
  std::int64_t size() const { return (per_load_ * window_.size() + 15) / 16 * 16; }
  const Window& window() const { return window_; }
  /// Returns the positions of a load's results in its windows, in the order of blocks, rows and columns.
  const std::vector<std::int64_t>& positions() const { return positions_; }

  /// Calls f(image, block, first result, number of results, first element of the window) for the blocks of a
  /// load. Returns the number of results.
  template <class F>
  std::int64_t for_blocks(std::int64_t load, const F& f) const;

 private:
  std::int64_t width_, height_, slices_;
  std::int64_t columns_, rows_;  // the size of a block
  Window window_;
  std::int64_t across_, down_;  // the number of blocks of a slice in each direction
  std::int64_t entries_;        // the number of blocks of all images
  std::int64_t per_load_;       // the number of blocks of a load
  std::vector<std::int64_t> positions_;
};

template <class F>
std::int64_t Loads::for_blocks(std::int64_t load, const F& f) const {
  const std::int64_t end = std::min((load + 1) * per_load_, entries_);
  std::int64_t first = 0, window = 0;
  for (std::int64_t entry = load * per_load_; entry < end; ++entry) {
    const std::int64_t slice = entry / (across_ * down_);
    Block block{slice % slices_, entry / across_ % down_ * rows_, rows_, entry % across_ * columns_,
                columns_};
    block.rows = std::min(rows_, height_ - block.row);
    block.columns = std::min(columns_, width_ - block.column);
    f(slice / slices_, block, first, block.rows * block.columns, window);
    first += block.rows * block.columns;
    window += window_.size();
  }
  return first;
}

}  // namespace ebb::cpu::conv
