// The bars of this process on a terminal, below the text that the program prints.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ebb::watch::terminal {

/// The parts of a line. A narrow terminal omits the last ones.
struct Line {
  std::vector<std::string> parts;
  std::optional<double> share;  // the filled share of a bar, which follows the second part
};

/// A limit of ten events in any second.
class Limit {
 public:
  /// Returns whether an event is allowed, and counts it if so.
  bool permits(double now);

 private:
  std::array<double, 10> times_ = {};
  std::size_t events_ = 0;
};

/// Returns the number of columns of a UTF-8 text on a terminal. East Asian characters and emoji have two.
std::size_t width(std::string_view text);
/// Returns the parts of a log's line.
std::string joined(const Line& line);
/// Returns whether a bar can be redrawn in place.
bool can_draw(int descriptor);
/// Sets the content of a bar; a new one is below the others. Draws all if a tenth of a second has passed.
void show(const void* bar, Line line, int descriptor, const std::function<double()>& clock);
/// Removes a bar, and leaves the lines `last` above the others.
void close(const void* bar, const std::string& last);
/// Writes all bytes, or as many as the system accepts: a full disk does not end a training.
void write(int descriptor, std::string_view text);

}  // namespace ebb::watch::terminal
