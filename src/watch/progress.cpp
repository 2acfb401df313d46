// Progress: counts, rate and values of a bar, and its lines in a log. Interrupted: the handler of Ctrl-C.
#include <ebb/core/environment.h>
#include <ebb/ebb.h>
#include <ebb/watch/progress.h>

#include "watch/rank.h"
#include "watch/terminal.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <csignal>
#include <mutex>
#include <string_view>
#include <vector>

namespace ebb::watch {

namespace {

// The number of open bars that this thread has begun. Another thread may end them, also later than this one.
thread_local const std::shared_ptr<std::atomic<int>> open_bars = std::make_shared<std::atomic<int>>(0);
std::atomic<bool> interrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler sets the flag");

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Returns whether the limit on lines of all bars allows one more.
bool may_write_line(double now) {
  static std::mutex mutex;
  static terminal::Limit limit;
  const std::lock_guard lock(mutex);
  return limit.permits(now);
}

// Replaces control characters, also U+0080 to U+009F, which could divide the line or change the terminal.
std::string printable(std::string text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
    const bool two_bytes = byte(i) == 0xC2 && i + 1 < text.size() && byte(i + 1) < 0xA0;
    if (two_bytes || byte(i) < 0x20 || byte(i) == 0x7F) text.replace(i, two_bytes ? 2 : 1, " ");
  }
  return text;
}

std::string duration(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::clamp(seconds, 0.0, 1e9));
  const std::string minutes = fmt::format("{:02}:{:02}", whole / 60 % 60, whole % 60);
  return whole < 3600 ? minutes : fmt::format("{}:{}", whole / 3600, minutes);
}

std::string speed(double rate, const std::string& unit) {
  const char* time = "s";
  for (const char* longer : {"min", "h"})
    if (rate < 1) rate *= 60, time = longer;
  return fmt::format("{:.{}f} {}/{}", rate, rate < 100 ? 1 : 0, unit, time);
}

std::string text_of(double number) {
  const double size = std::abs(number);
  if (number == std::round(number) && size < 1e15) return fmt::format("{:.0f}", number);
  return size >= 1e-3 && size < 1e6 ? fmt::format("{:.4f}", number) : fmt::format("{:.4g}", number);
}

// A text, or the sum of a number and a tensor. An average counts what has been added.
struct Value {
  std::string name, text = {};
  double number = 0;
  Variable tensor = {};
  std::int64_t count = 0;

  // A tensor that cannot be read is "?", because the next op on its device reports the error.
  std::string shown() const {
    try {
      const double sum = number + (tensor.defined() ? tensor.item<double>() : 0);
      return name + " " + (text.empty() ? text_of(count ? sum / static_cast<double>(count) : sum) : text);
    } catch (const std::exception&) {
      return name + " ?";
    }
  }
};

}  // namespace

struct Progress::State {
  enum class Output { kNone, kLog, kBar };

  std::recursive_mutex mutex;
  std::string title;
  ProgressOptions options;
  Output output = Output::kNone;
  bool open = false, nested = false;
  std::int64_t done = 0, start = 0;
  double begun = 0, due = 0;                 // times
  std::shared_ptr<std::atomic<int>> opened;  // the counter of the thread that began the bar
  std::vector<Value> values;

  void begin(std::int64_t from) {
    if (!std::exchange(open, true)) nested = (*(opened = open_bars))++ > 0;
    done = start = from;
    values.clear();
    begun = options.clock()();
    due = output == Output::kLog ? begun + options.log_interval() : begun;
    update();
  }

  terminal::Line line(double now, const std::string* result) const {
    const optional<std::int64_t> total = options.total();
    const double seconds = now - begun, rate = seconds > 0 ? static_cast<double>(done - start) / seconds : 0;
    terminal::Line line{{title}, {}};
    if (result) {
      line.parts.push_back(printable(*result));
    } else if (total) {
      line.share = done < *total ? static_cast<double>(done) / static_cast<double>(*total) : 1;
      line.parts.push_back(fmt::format("{:3.0f}%", std::floor(100 * *line.share)));
      if (rate > 0) line.parts.push_back("left " + duration(static_cast<double>(*total - done) / rate));
    }
    for (const Value& value : values) line.parts.push_back(value.shown());
    line.parts.push_back(fmt::format("{}{}", done, total ? fmt::format("/{}", *total) : ""));
    if (rate > 0) line.parts.push_back(speed(rate, options.unit()));
    line.parts.push_back(duration(seconds));
    std::erase(line.parts, "");
    return line;
  }

  void update() {
    if (output == Output::kNone) return;
    const double now = options.clock()();
    if (now < due && (output == Output::kLog || options.total() != done)) return;
    due = now + (output == Output::kLog ? options.log_interval() : 0.1);
    if (output == Output::kBar)
      terminal::show(this, line(now, nullptr), options.descriptor(), options.clock());
    else if (may_write_line(now))
      terminal::write(options.descriptor(), terminal::joined(line(now, nullptr)) + "\n");
  }

  void end(const std::string& result) {
    const std::lock_guard lock(mutex);
    if (!std::exchange(open, false)) return;
    --*opened;
    if (output == Output::kNone) return;
    const double now = options.clock()();
    const bool is_long = output == Output::kLog && now - begun >= options.log_interval();
    const bool stays = !result.empty() || ((!nested || is_long) && may_write_line(now));
    const std::string last = stays ? terminal::joined(line(now, &result)) + "\n" : "";
    if (output == Output::kBar)
      terminal::close(this, last);
    else
      terminal::write(options.descriptor(), last);
  }
};

Progress::Progress(std::string title, ProgressOptions options) : state_(std::make_unique<State>()) {
  EBB_CHECK(options.total().value_or(0) >= 0 && options.start() >= 0 && options.descriptor() >= 0,
            "Progress(\"", title, "\"): total ", options.total().value_or(0), ", start ", options.start(),
            " and descriptor ", options.descriptor(), " must not be negative.");
  EBB_CHECK(options.log_interval() > 0, "Progress(\"", title,
            "\"): log_interval must be a positive number of seconds, got ", options.log_interval(), ".");
  const char* const wish = detail::environment("EBB_PROGRESS");
  const std::string_view mode = wish ? wish : "";
  const bool draws = mode != "lines" && terminal::can_draw(options.descriptor());
  if (mode != "0" && writes_output()) state_->output = draws ? State::Output::kBar : State::Output::kLog;
  if (!options.clock()) options.clock(steady_seconds);
  state_->title = printable(std::move(title));
  options.unit(printable(options.unit()));
  state_->options = std::move(options);
  state_->begin(state_->options.start());
}

Progress::~Progress() {
  try {
    state_->end("");
  } catch (...) {  // a lack of memory, for example, must not end the program here
  }
}

void Progress::advance(std::int64_t units) {
  EBB_CHECK(units >= 0, "Progress::advance(", units, "): the number of units must not be negative.");
  {
    const std::lock_guard lock(state_->mutex);
    EBB_CHECK(state_->open, "Progress::advance: \"", state_->title, "\" has ended. Call restart() first.");
    state_->done += units;
    state_->update();
    if (state_->options.total() && state_->done >= *state_->options.total()) return;
  }
  check_interrupt();
}

Progress& Progress::put(const std::string& name, const std::variant<double, Variable, std::string>& value,
                        bool averages) {
  if (state_->output == State::Output::kNone) return *this;
  const Variable* const x = std::get_if<Variable>(&value);
  EBB_CHECK(!x || (x->defined() && x->numel() == 1 && !x->is_complex()),
            "Progress::", averages ? "average" : "set", "(\"", name,
            "\"): expected a real tensor of one element, got ", x ? *x : Variable(),
            ". Reduce it first, for example by mean().");
  const std::lock_guard lock(state_->mutex);
  const std::string key = printable(name);
  const auto found = std::ranges::find(state_->values, key, &Value::name);
  Value& shown = found != state_->values.end() ? *found : state_->values.emplace_back(Value{key});
  if (!averages || shown.count == 0) shown = {key};
  shown.count += averages;
  if (x) {
    const Variable copy = x->detach().reshape({}).to(kDouble, /*non_blocking=*/false, /*copy=*/true);
    shown.tensor = shown.tensor.defined() ? shown.tensor + copy.to(shown.tensor.device()) : copy;
  } else if (const std::string* const text = std::get_if<std::string>(&value)) {
    shown.text = printable(*text);
  } else {
    shown.number += std::get<double>(value);
  }
  return *this;
}

void Progress::finish(const std::string& result) {
  state_->end(result);
  check_interrupt();
}

void Progress::restart(std::int64_t start) {
  EBB_CHECK(start >= 0, "Progress::restart(", start, "): the number of units must not be negative.");
  const std::lock_guard lock(state_->mutex);
  if (state_->done > state_->start) state_->end("");
  state_->begin(start);
}

Interrupted::~Interrupted() = default;

void throw_on_interrupt() {
  struct sigaction before = {}, action = {};
  if (::sigaction(SIGINT, nullptr, &before) == 0 && before.sa_handler == SIG_IGN) return;
  action.sa_handler = [](int) { interrupted = true; };
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);  // the second Ctrl-C ends the program
  ::sigaction(SIGINT, &action, nullptr);
}

void check_interrupt() {
  if (interrupted && interrupted.exchange(false)) throw Interrupted("stopped by Ctrl-C");
}

}  // namespace ebb::watch
