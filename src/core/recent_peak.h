// The largest use of late: what a cache may assume to be wanted again.
#pragma once

#include <algorithm>
#include <cstddef>

namespace ebb::detail {

/// Follows a number of bytes in use and remembers its largest value over the present period and the one
/// before. A period ends when eight times its peak has been handed out, several steps of a training loop:
/// the peaks of a loop are kept for as long as it runs, those of a program's earlier life are forgotten.
class RecentPeak {
 public:
  /// `bytes` more were handed out; `in_use` is the sum now.
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
