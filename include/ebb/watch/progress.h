// progress and Progress: bars that show how far a loop is. Interrupted: the end of a loop by Ctrl-C.
#pragma once

#include <ebb/autograd/variable.h>
#include <ebb/core/arg.h>

#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

namespace ebb::watch {

/// Options of a bar. Setters chain: `ProgressOptions(60000, "images").log_interval(60)`.
class ProgressOptions {
 public:
  ProgressOptions() = default;
  ProgressOptions(std::int64_t total, std::string unit = "steps") : total_(total), unit_(std::move(unit)) {}

  EBB_ARG(optional<std::int64_t>, total);   ///< units of the whole loop; default: the size of the range
  EBB_ARG(std::string, unit) = "steps";     ///< the name of the units, in the plural
  EBB_ARG(std::int64_t, start) = 0;         ///< units that an earlier run has done
  EBB_ARG(double, log_interval) = 10;       ///< seconds between two lines in a file or a pipe
  EBB_ARG(int, descriptor) = 2;             ///< the file descriptor of the output; 2 is stderr
  EBB_ARG(std::function<double()>, clock);  ///< returns seconds; default: the steady clock
};

/// A progress bar (tqdm):
///     watch::Progress bar("epoch 1/3", {60000, "images"});
///     ... bar.average("loss", loss).advance(images.size(0)); ...
///     bar.finish("test accuracy 97.2 %");
/// On a terminal it is redrawn in place, at most ten times a second and after a text that the program prints
/// by stdout, stderr, std::cout, std::cerr or std::clog, which appears above it. The cursor stays on a line
/// of its own below. Bars within a bar are below it, and vanish if they end without a result. In a file, in a
/// pipe, with TERM=dumb or EBB_PROGRESS=lines there is one line per log_interval and one at the end, in all
/// at most ten a second besides results. EBB_PROGRESS=0 and ranks other than 0 write nothing. Methods may be
/// called by many threads.
class EBB_API Progress {
 public:
  explicit Progress(std::string title, ProgressOptions options = {});
  ~Progress();  ///< ends the line, also after an exception
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Counts units that are done. Then throws Interrupted after Ctrl-C, unless the total is reached.
  void advance(std::int64_t units = 1);
  /// Shows a value, or the average of all values since the start. A tensor of one element stays on its device
  /// and is read only when the bar is drawn, so that a step does not wait for a GPU.
  Progress& set(const std::string& name, double value) { return put(name, value, false); }
  Progress& set(const std::string& name, const std::string& text) { return put(name, text, false); }
  Progress& set(const std::string& name, const Variable& value) { return put(name, value, false); }
  Progress& average(const std::string& name, double value) { return put(name, value, true); }
  Progress& average(const std::string& name, const Variable& value) { return put(name, value, true); }
  /// Replaces the bar by a last line with `result`. Then throws Interrupted after Ctrl-C.
  void finish(const std::string& result = "");
  /// Ends the line if units have been counted, and starts again without values.
  void restart(std::int64_t start = 0);

 private:
  struct State;
  Progress& put(const std::string& name, const std::variant<double, Variable, std::string>& value,
                bool averages);
  std::unique_ptr<State> state_;
};

/// A bar with a range, whose elements it counts. Each begin() restarts the bar. If the range is a DataLoader
/// that continues within an epoch, the bar starts at its position.
template <class Range>
class ProgressRange : public Progress {
 public:
  ProgressRange(Range&& range, std::string title, ProgressOptions options)
      : Progress(std::move(title), with_total(range, options)),
        range_(std::forward<Range>(range)),
        start_(options.start()) {}

  template <class Base>
  struct Iterator {
    decltype(auto) operator*() { return *at; }
    Iterator& operator++() { return bar->advance(), ++at, *this; }
    bool operator==(const auto& end) const { return at == end; }
    Base at;
    Progress* bar;
  };

  auto begin() {
    std::int64_t start = start_;
    if constexpr (requires(Range& r) { *r.delivered(); })
      start = static_cast<std::int64_t>(range_.delivered().value_or(static_cast<std::size_t>(start)));
    restart(start);
    return Iterator<decltype(std::begin(range_))>{std::begin(range_), this};
  }
  auto end() { return std::end(range_); }

 private:
  static const ProgressOptions& with_total(Range& range, ProgressOptions& options) {
    if constexpr (requires { optional<std::size_t>(std::size(range)); })
      if (const optional<std::size_t> size = std::size(range); size && !options.total())
        options.total(static_cast<std::int64_t>(*size));
    return options;
  }
  Range range_;
  std::int64_t start_;
};

/// Returns a DataLoader, a container or another range with a bar:
///     for (auto& batch : watch::progress(*loader, "epoch 1")) ...
///     auto bar = watch::progress(*loader, "epoch 1");                      // to show values
///     for (auto& batch : bar) bar.set("loss", train_step(batch));
template <class Range>
  requires requires(Range& range) { std::begin(range); }
ProgressRange<Range> progress(Range&& range, std::string title, ProgressOptions options = {}) {
  return {std::forward<Range>(range), std::move(title), std::move(options)};
}

/// Thrown after Ctrl-C (Python's KeyboardInterrupt). It is no ebb::Error, so that code that skips faulty
/// batches does not catch it.
class EBB_API Interrupted : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
  ~Interrupted() override;
};
/// Makes bars and check_interrupt() throw Interrupted once after the next Ctrl-C; a second Ctrl-C ends the
/// program. Does nothing if the program was started with SIGINT ignored, as in the background of a script.
EBB_API void throw_on_interrupt();
EBB_API void check_interrupt();

}  // namespace ebb::watch
