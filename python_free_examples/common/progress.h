// A line that shows how far an epoch is.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

namespace example {

/// On a terminal a bar with loss, items a second and the time left, redrawn in place; elsewhere one plain
/// line an epoch.
class Progress {
 public:
  Progress(std::string title, std::int64_t total, std::string unit = "images");
  /// Ends the line of a bar that did not finish.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Counts a step and its loss, then throws Interrupted if Ctrl-C was pressed, unless it was the last step.
  void advance(std::int64_t items, double loss);
  /// Ends the line with `result`, say "test accuracy 0.912", then throws Interrupted if Ctrl-C was pressed.
  void finish(const std::string& result);

  /// The line with the bar, and the last line, at most that many columns wide: the less important parts are
  /// left out.
  std::string bar_line(std::size_t columns) const;
  std::string last_line(const std::string& result, std::size_t columns) const;

 private:
  using Clock = std::chrono::steady_clock;
  double seconds() const;
  std::string loss() const;
  std::string speed() const;
  /// Replaces the line on the terminal.
  void draw(const std::string& line) const;

  std::string title_, unit_;
  std::int64_t total_, done_ = 0, steps_ = 0;
  double loss_sum_ = 0;
  bool terminal_;
  Clock::time_point start_ = Clock::now(), drawn_ = {};
};

}  // namespace example
