// Progress: the lines of the progress bar.
#include "common/progress.h"

#include "common/interrupt.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string_view>
#include <vector>

namespace example {

namespace {

// Returns whether stdout is a terminal that interprets escape codes. Terminals that do not, such as the shell
// in Emacs, set TERM=dumb.
bool can_redraw() {
  const char* kind = std::getenv("TERM");
  return isatty(STDOUT_FILENO) && !(kind && std::string_view(kind) == "dumb");
}

// Returns the width of the terminal without its last column, where a line could wrap. Progress calls it for
// each line, because the size of the window may change.
std::size_t usable_columns() {
  winsize size = {};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col - 1u : 79u;
}

struct Part {
  std::string text;
  int rank;  // 0 is the most important
};

// Joins the most important parts that fit, in their original order.
std::string fitted(const std::vector<Part>& parts, std::size_t columns) {
  constexpr std::string_view kGap = "  ";
  std::vector<const Part*> by_rank;
  for (const Part& part : parts)
    if (!part.text.empty()) by_rank.push_back(&part);
  std::sort(by_rank.begin(), by_rank.end(), [](auto* a, auto* b) { return a->rank < b->rank; });
  if (by_rank.empty()) return {};
  std::vector<const Part*> chosen = {by_rank.front()};
  std::size_t used = by_rank.front()->text.size();
  if (used > columns) return by_rank.front()->text.substr(0, columns);
  for (std::size_t i = 1; i < by_rank.size(); ++i) {
    const std::size_t more = kGap.size() + by_rank[i]->text.size();
    if (more > columns - used) continue;
    used += more;
    chosen.push_back(by_rank[i]);
  }
  std::sort(chosen.begin(), chosen.end());  // pointers into one vector, so this restores the order
  std::string line;
  for (const Part* part : chosen) (line += line.empty() ? "" : kGap) += part->text;
  return line;
}

constexpr std::size_t kShortestBar = 7, kLongestBar = 32;

// Returns the bar: "[====......]".
std::string bar(double done, std::size_t columns) {
  const std::size_t width = std::min(columns, kLongestBar) - 2;
  const auto full = static_cast<std::size_t>(static_cast<double>(width) * done);
  return "[" + std::string(full, '=') + std::string(width - full, '.') + "]";
}

}  // namespace

Progress::Progress(std::string title, std::int64_t total, std::string unit)
    : title_(std::move(title)), unit_(std::move(unit)), total_(total), terminal_(can_redraw()) {}

Progress::~Progress() {
  if (terminal_ && drawn_ != Clock::time_point()) std::putchar('\n');
}

double Progress::seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

std::string Progress::loss() const {
  return fmt::format("loss {:.4f}", loss_sum_ / static_cast<double>(std::max<std::int64_t>(steps_, 1)));
}

std::string Progress::speed() const {
  return fmt::format("{:6.0f} {}/s", static_cast<double>(done_) / seconds(), unit_);
}

std::string Progress::bar_line(std::size_t columns) const {
  // The last step may exceed the total.
  const double done = std::min(static_cast<double>(done_) / static_cast<double>(total_), 1.0);
  const double left = done_ ? seconds() / done * (1 - done) : 0;
  std::vector<Part> parts = {{title_, 1},
                             {bar(done, kShortestBar), 2},
                             {fmt::format("{:3.0f}%", std::floor(100 * done)), 0},
                             {loss(), 4},
                             {speed(), 5},
                             {fmt::format("ETA {:.0f} s", left), 3}};
  // The bar fills the remaining columns.
  const std::size_t used = fitted(parts, columns).size();
  parts[1].text = bar(done, kShortestBar + columns - used);
  return fitted(parts, columns);
}

std::string Progress::last_line(const std::string& result, std::size_t columns) const {
  return fitted(
      {{title_, 1}, {loss(), 2}, {speed(), 4}, {fmt::format("{:.1f} s", seconds()), 3}, {result, 0}},
      columns);
}

void Progress::draw(const std::string& line) const {
  std::printf("\r%s\x1b[K", line.c_str());
  std::fflush(stdout);
}

void Progress::advance(std::int64_t items, double loss) {
  done_ += items;
  ++steps_;
  loss_sum_ += loss;
  if (terminal_ && Clock::now() - drawn_ >= std::chrono::milliseconds(100)) {
    drawn_ = Clock::now();
    draw(bar_line(usable_columns()));
  }
  if (done_ < total_) stop_if_interrupted();
}

void Progress::finish(const std::string& result) {
  if (terminal_) draw(last_line(result, usable_columns()));
  std::puts(terminal_ ? "" : last_line(result, std::numeric_limits<std::size_t>::max()).c_str());
  drawn_ = {};
  stop_if_interrupted();
}

}  // namespace example
