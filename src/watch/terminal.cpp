// The bars of this process on a terminal: drawing, resizing, and the text that the program prints meanwhile.
#include "watch/terminal.h"

#include <ebb/core/environment.h>

#include <ext/stdio_filebuf.h>
#include <ext/stdio_sync_filebuf.h>
#include <fmt/format.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <iostream>
#include <mutex>
#include <utility>

namespace ebb::watch::terminal {

namespace {

constexpr std::size_t kShortestBar = 7, kLongestBar = 32;                // columns
constexpr double kDrawInterval = 0.1, kResizeEnds = 0.5, kTextEnds = 1;  // seconds

bool is_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"})
    if (const char* value = detail::environment(name); value && *value)
      return ::strcasestr(value, "utf-8") || ::strcasestr(value, "utf8");
  return false;
}

std::string bar(double share, std::size_t columns) {
  const bool utf8 = is_utf8();
  const std::string full = utf8 ? "█" : "=", empty = utf8 ? "░" : ".";
  const double cells = static_cast<double>(utf8 ? columns : columns - 2);
  std::string text;
  for (double cell = 1; cell <= cells; ++cell) text += cell <= share * cells ? full : empty;
  return utf8 ? text : "[" + text + "]";
}

// Joins the parts that fit. The title is cut if it leaves no room for the second part, and the bar takes the
// columns that remain.
std::string fitted(const Line& line, std::size_t columns) {
  std::vector<std::string> parts = line.parts;
  for (std::string& title = parts[0]; width(title) + (columns > 12 ? 6 : 0) > columns; title.pop_back())
    while ((title.back() & 0xC0) == 0x80 && title.size() > 1) title.pop_back();  // to the first byte
  const std::size_t least = std::clamp(columns / 6, kShortestBar, kLongestBar);
  if (line.share) parts.insert(parts.begin() + 2, bar(*line.share, least));
  std::size_t used = width(parts[0]), count = 1;
  while (count < parts.size() && used + 2 + width(parts[count]) <= columns) used += 2 + width(parts[count++]);
  if (line.share && count > 2) parts[2] = bar(*line.share, std::min(least + columns - used, kLongestBar));
  return fmt::format("{}", fmt::join(parts.data(), parts.data() + count, "  "));
}

// The terminal. No function that takes another lock is called while the mutex is held.
struct Screen {
  std::mutex mutex;
  std::vector<std::pair<const void*, Line>> bars;
  std::function<double()> clock;
  int descriptor = -1;
  std::atomic<pid_t> process = -1;
  std::size_t rows = 0, widest = 0, columns = 0;  // drawn rows and their greatest width; the window's columns
  double drawn = 0, resized = 0, printed = 0;     // times
  Limit drawings;
  bool within_line = false;  // whether the program's text lacks its end of line

  // Returns whether this process may draw. A job in the background would destroy the text of other programs.
  bool is_in_front() const {
    const pid_t group = ::tcgetpgrp(descriptor);
    return ::getpid() == process && (group <= 0 || group == ::getpgrp());
  }

  void draw(double now) {
    winsize window = {};
    ::ioctl(descriptor, TIOCGWINSZ, &window);
    const std::size_t wide = window.ws_col ? window.ws_col : 80, high = window.ws_row ? window.ws_row : 24;
    if (std::exchange(columns, wide) != wide) resized = now;
    // Terminals wrap old bars that have become too wide, and the rows stay. So wait for the final width.
    if (!is_in_front() || (wide < widest && now - resized < kResizeEnds)) return;
    if (within_line && now - printed < kTextEnds) return;
    std::string text = within_line ? "\n" : rows ? fmt::format("\x1b[{}A", rows) : "";
    text += "\x1b[?7l";  // no wrapping, because some characters take two columns
    rows = widest = 0;
    for (std::size_t i = bars.size() - std::min(bars.size(), high - 1); i < bars.size(); ++i, ++rows) {
      const std::string line = fitted(bars[i].second, wide - 1);
      widest = std::max(widest, width(line));
      text += "\r" + line + "\x1b[K\n";
    }
    write(descriptor, text + "\x1b[?7h\x1b[J");
    within_line = false;
    drawn = now;
  }

  void erase() {
    if (rows && is_in_front()) write(descriptor, fmt::format("\x1b[{}A\r\x1b[J", rows));
    rows = widest = 0;
  }
};

// Returns the screen, which is never destroyed, because programs print until their end.
Screen& screen() {
  static Screen& one = *new Screen;
  return one;
}

// Writes text of the program above the bars.
ssize_t print(void* descriptor, const char* text, std::size_t size) {
  Screen& s = screen();
  std::unique_lock lock(s.mutex, std::defer_lock);
  if (::getpid() == s.process) lock.lock();  // in a child process the mutex may be locked for ever
  if (lock) s.erase();
  write(static_cast<int>(reinterpret_cast<std::intptr_t>(descriptor)), {text, size});
  if (lock) s.within_line = !std::string_view(text, size).ends_with('\n');
  if (lock && !s.bars.empty()) s.draw(s.printed = s.clock());
  return static_cast<ssize_t>(size);
}

// Returns whether a C++ stream writes to the file of a C stream. A program may have given it another buffer.
bool writes_to(const std::ostream& name, std::FILE* stream) {
  if (auto* const synced = dynamic_cast<__gnu_cxx::stdio_sync_filebuf<char>*>(name.rdbuf()))
    return synced->file() == stream;
  auto* const own = dynamic_cast<__gnu_cxx::stdio_filebuf<char>*>(name.rdbuf());
  return own && own->fd() == ::fileno(stream);  // after sync_with_stdio(false)
}

// Sends the text of a C stream, and of the C++ streams of its file, through print() from now on.
void redirect(std::FILE*& stream, std::initializer_list<std::ostream*> names) {
  constexpr int kUnbuffered = 2;  // a flag of the GNU C library
  const int descriptor = ::fileno(stream);
  auto* const cookie = reinterpret_cast<void*>(static_cast<std::intptr_t>(descriptor));
  std::FILE* const above =
      ::isatty(descriptor) ? ::fopencookie(cookie, "w", {nullptr, print, nullptr, nullptr}) : nullptr;
  if (!above) return;
  std::setvbuf(above, nullptr, stream->_flags & kUnbuffered ? _IONBF : _IOLBF, BUFSIZ);
  above->_fileno = descriptor;  // so that isatty(fileno(stdout)) remains true
  for (std::ostream* name : names)
    if (writes_to(*name, stream)) name->flush().rdbuf(new __gnu_cxx::stdio_sync_filebuf<char>(above));
  std::fflush(std::exchange(stream, above));
}

}  // namespace

bool Limit::permits(double now) {
  double& oldest = times_[events_ % times_.size()];
  if (events_ >= times_.size() && now >= oldest && now - oldest < 1) return false;
  oldest = now;
  return ++events_;
}

std::size_t width(std::string_view text) {
  return 2 * text.size() - fmt::formatted_size("{:{}}", text, text.size());  // fmt counts columns to align
}

std::string joined(const Line& line) { return fmt::format("{}", fmt::join(line.parts, "  ")); }

bool can_draw(int descriptor) {
  const char* kind = detail::environment("TERM");
  return ::isatty(descriptor) && !(kind && std::string_view(kind) == "dumb");
}

void write(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno != EINTR) return;
    text.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(written, 0)));
  }
}

void show(const void* bar, Line line, int descriptor, const std::function<double()>& clock) {
  [[maybe_unused]] static const bool once =
      (redirect(stdout, {&std::cout}), redirect(stderr, {&std::cerr, &std::clog}), true);
  Screen& s = screen();
  const std::lock_guard lock(s.mutex);
  s.descriptor = descriptor;
  s.clock = clock;
  s.process = ::getpid();
  const auto same = [&](const auto& each) { return each.first == bar; };
  const bool is_full = line.share == 1.0;
  const auto found = std::ranges::find_if(s.bars, same);
  (found == s.bars.end() ? s.bars.emplace_back(bar, Line()) : *found).second = std::move(line);
  const double now = clock();
  const bool is_due = is_full || s.rows == 0 || !(now - s.drawn < kDrawInterval);
  if (is_due && s.drawings.permits(now)) s.draw(now);
}

void close(const void* bar, const std::string& last) {
  Screen& s = screen();
  const std::lock_guard lock(s.mutex);
  std::erase_if(s.bars, [&](const auto& each) { return each.first == bar; });
  if (s.bars.empty() || !last.empty()) s.erase();
  if (!last.empty()) write(s.descriptor, std::exchange(s.within_line, false) ? "\n" + last : last);
  if (s.bars.empty()) return;
  if (const double now = s.clock(); s.drawings.permits(now)) s.draw(now);
}

}  // namespace ebb::watch::terminal
