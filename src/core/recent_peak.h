// The recent peak of memory use: the amount that a cache expects to need again.
#pragma once

#include <algorithm>
#include <cstddef>

namespace ebb::detail {

/// Records the peak number of bytes in use over the current and the previous period. A period ends when eight
/// times its peak has been allocated, which is several steps of a training loop. A loop's peak is thus kept
/// as long as the loop runs, and older peaks are forgotten.
class RecentPeak {
 public:
  /// `bytes` more were allocated; `in_use` is the new total.
  void handed_out(std::size_t bytes, std::size_t in_use) {
    present_ = std::max(present_, in_use);
    volume_ += bytes;
    if (volume_ / 8 < present_) return;
    before_ = present_;
    present_ = in_use;
    volume_ = 0;
  }
  std::size_t get() const { return std::max(present_, before_); }

 private:
  std::size_t present_ = 0, before_ = 0, volume_ = 0;
};

}  // namespace ebb::detail
