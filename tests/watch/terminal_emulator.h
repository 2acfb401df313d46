// TerminalEmulator: a pseudo-terminal and the screen that its output draws.
#pragma once

#include <fcntl.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

/// A pseudo-terminal with a screen and all lines that have left it at the top. The program writes to file().
/// It knows the sequences that progress bars use, and throws std::runtime_error for others.
class TerminalEmulator {
 public:
  enum class OnResize { cut, wrap };  // as xterm, and as most other terminals

  explicit TerminalEmulator(std::size_t columns, std::size_t rows = 24, OnResize on_resize = OnResize::cut)
      : columns_(columns), rows_(rows), on_resize_(on_resize), lines_(1) {
    const winsize size = window();
    if (::openpty(&master_, &file_, nullptr, nullptr, &size) != 0) throw std::runtime_error("no terminal");
    ::fcntl(master_, F_SETFL, O_NONBLOCK);
  }
  ~TerminalEmulator() {
    ::close(master_);
    if (file_ >= 0) ::close(file_);
  }
  TerminalEmulator(const TerminalEmulator&) = delete;
  TerminalEmulator& operator=(const TerminalEmulator&) = delete;

  int file() const { return file_; }

  /// Draws the output until now.
  void read() {
    std::string bytes;
    char block[4096];
    for (ssize_t n; (n = ::read(master_, block, sizeof block)) > 0;)
      bytes.append(block, static_cast<std::size_t>(n));
    output_ += bytes;
    unread_ += bytes;
    std::size_t at = 0;
    for (std::size_t next; at < unread_.size() && (next = draw(unread_, at)) != 0;) at = next;
    unread_.erase(0, at);
  }

  void resize(std::size_t columns) {
    read();
    std::vector<Line> before;
    lines_.swap(before);
    const std::size_t row = row_;
    columns_ = columns;
    column_ = std::min(column_, columns_ - 1);
    for (std::size_t i = 0; i < before.size();) {
      Line line = before[i];
      if (i == row) row_ = lines_.size();
      for (++i; i < before.size() && before[i - 1].wraps; ++i)  // joins the rows of a wrapped line
        line.cells.insert(line.cells.end(), before[i].cells.begin(), before[i].cells.end());
      for (std::size_t at = 0; at == 0 || (at < line.cells.size() && on_resize_ == OnResize::wrap);
           at += columns) {
        const std::size_t end = std::min(line.cells.size(), at + columns);
        lines_.push_back({{line.cells.begin() + static_cast<std::ptrdiff_t>(at),
                           line.cells.begin() + static_cast<std::ptrdiff_t>(end)},
                          on_resize_ == OnResize::wrap && end < line.cells.size()});
      }
    }
    const winsize size = window();
    ::ioctl(file_, TIOCSWINSZ, &size);
  }

  /// Returns the lines without spaces at their ends, up to the cursor's line.
  std::vector<std::string> lines() {
    read();
    std::vector<std::string> texts;
    for (const Line& line : lines_) {
      std::string text;
      for (const std::string& cell : line.cells) text += cell;
      text.erase(text.find_last_not_of(' ') + 1);
      texts.push_back(text);
    }
    return texts;
  }
  /// Returns whether the cursor is in the first column of an empty last line.
  bool is_on_own_line() {
    const std::vector<std::string> all = lines();
    return row_ + 1 == all.size() && column_ == 0 && all.back().empty();
  }
  /// Returns all bytes until now.
  const std::string& output() { return read(), output_; }
  /// Returns the greatest number of characters that a line has had.
  std::size_t widest() { return read(), widest_; }

 private:
  struct Line {
    std::vector<std::string> cells;  // one character each
    bool wraps = false;              // whether the next row continues the line
  };

  winsize window() const {
    return {static_cast<unsigned short>(rows_), static_cast<unsigned short>(columns_), 0, 0};
  }
  void down() {
    if (++row_ == lines_.size()) lines_.emplace_back();
  }

  // Draws what begins at bytes[i]. Returns the position after it, or 0 if a sequence is not complete.
  std::size_t draw(const std::string& bytes, std::size_t i) {
    const char c = bytes[i];
    if (c == '\r') return column_ = 0, i + 1;
    if (c == '\n') return down(), i + 1;
    if (c == '\x1b') return control(bytes, i + 1);
    if (static_cast<unsigned char>(c) < 0x20) throw std::runtime_error("control character");
    std::size_t end = i + 1;
    while (end < bytes.size() && (bytes[end] & 0xC0) == 0x80) ++end;
    const bool is_wide = static_cast<unsigned char>(c) >= 0xE3;  // East Asian characters and emoji
    if (is_wide && end - i < 3) throw std::runtime_error("a part of a character");
    const std::size_t cells = is_wide ? 2 : 1;
    if (column_ + cells > columns_ && wraps_) lines_[row_].wraps = true, column_ = 0, down();
    column_ = std::min(column_, columns_ - std::min(columns_, cells));
    std::vector<std::string>& line = lines_[row_].cells;
    if (line.size() < column_ + cells) line.resize(column_ + cells, " ");
    line[column_] = bytes.substr(i, end - i);
    if (is_wide) line[column_ + 1].clear();
    column_ += cells;
    widest_ = std::max(widest_, column_);
    return end;
  }

  std::size_t control(const std::string& bytes, std::size_t i) {
    const std::size_t end = bytes.find_first_of("AJKhl", i);
    if (end == bytes.npos) return 0;
    const std::string sequence = bytes.substr(i, end - i + 1);
    if (sequence == "[?7l" || sequence == "[?7h") {
      wraps_ = sequence.back() == 'h';
    } else if (sequence == "[K" || sequence == "[J") {
      lines_[row_].cells.resize(std::min(lines_[row_].cells.size(), column_));
      lines_[row_].wraps = false;
      if (sequence == "[J") lines_.resize(row_ + 1);
    } else if (sequence.size() > 2 && sequence.back() == 'A') {
      const std::size_t top = lines_.size() - std::min(lines_.size(), rows_);
      row_ -= std::min(row_ - top, static_cast<std::size_t>(std::stoi(sequence.substr(1))));
    } else {
      throw std::runtime_error("unknown sequence " + sequence);
    }
    return end + 1;
  }

  std::size_t columns_, rows_;
  OnResize on_resize_;
  std::vector<Line> lines_;
  std::size_t row_ = 0, column_ = 0, widest_ = 0;
  bool wraps_ = true;
  int master_ = -1, file_ = -1;
  std::string output_, unread_;
};
