// How results are cut into loads: blocks whose windows lie in the cache at the same time.
#pragma once

#include "ops/conv/window.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace ebb::cpu::conv {

/// A load is one block where images are large, and several slices or images where they are small. A block is
/// some rows, or a part of one. Loads depend on the shapes only.
class Loads {
 public:
  /// For readings with results. Loads have about `pixels` results a channel and windows of `bytes`, or less.
  Loads(const Reading& reading, std::int64_t batch, std::int64_t pixels, std::int64_t bytes,
        std::int64_t element_size);

  std::int64_t count() const { return (entries_ + together_ - 1) / together_; }
  /// The most results of a load, and elements of its windows: whole cache lines, so that what lies behind is
  /// aligned.
  std::int64_t pixels() const { return together_ * rows_ * columns_; }
  std::int64_t size() const { return (together_ * window_.size() + 15) / 16 * 16; }
  const Window& window() const { return window_; }
  /// Where the results of a load stand in its windows, in the order of blocks, rows and columns.
  const std::vector<std::int64_t>& positions() const { return positions_; }

  /// Calls f(image, block, first result, their number, first element of the window) for the blocks of a load.
  template <class F>
  std::int64_t for_blocks(std::int64_t load, const F& f) const;

 private:
  std::int64_t width_, height_, slices_;
  std::int64_t columns_, rows_;  // of a block
  Window window_;
  std::int64_t across_, down_;  // blocks of a slice
  std::int64_t entries_;        // blocks of all images
  std::int64_t together_;       // of a load
  std::vector<std::int64_t> positions_;
};

/// Returns the number of results.
template <class F>
std::int64_t Loads::for_blocks(std::int64_t load, const F& f) const {
  const std::int64_t end = std::min((load + 1) * together_, entries_);
  std::int64_t first = 0, window = 0;
  for (std::int64_t entry = load * together_; entry < end; ++entry) {
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
