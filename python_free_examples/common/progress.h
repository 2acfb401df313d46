// Progress: a progress bar for an epoch.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

namespace example {

/// A progress bar. On a terminal it shows the loss, the items per second and the remaining time, and is
/// redrawn in place. Otherwise it prints one plain line per epoch.
class Progress {
 public:
  Progress(std::string title, std::int64_t total, std::string unit = "images");
  /// Ends the line if finish() was not called.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Counts a step and its loss. Then throws Interrupted if Ctrl-C was pressed, unless this was the last
  /// step.
  void advance(std::int64_t items, double loss);
  /// Ends the line with `result` ("test accuracy 0.912"), then throws Interrupted if Ctrl-C was pressed.
  void finish(const std::string& result);

  /// Return the line with the bar, and the last line, with at most `columns` columns. A narrow line omits its
  /// less important parts.
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
