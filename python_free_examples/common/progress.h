// A line that shows how far an epoch is.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace example {

/// On a terminal a bar with loss, items a second and the time left, redrawn in place; elsewhere one plain
/// line an epoch.
class Progress {
 public:
  Progress(std::string title, std::int64_t total, std::string unit = "images");
  void advance(std::int64_t items, double loss);
  /// Ends the line with `result`, say "test accuracy 0.912".
  void finish(const std::string& result);

 private:
  using Clock = std::chrono::steady_clock;
  double seconds() const;
  std::string figures() const;
  void draw() const;

  std::string title_, unit_;
  std::int64_t total_, done_ = 0, steps_ = 0;
  double loss_sum_ = 0;
  bool terminal_;
  Clock::time_point start_ = Clock::now(), drawn_ = {};
};

}  // namespace example
