// All that can be seen of a running program, compared bit by bit.
#pragma once

#include <ebb/autograd/variable.h>

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

namespace programs {

/// A tensor by its name after a call, or a text.
struct Seen {
  std::string label;
  ebb::Variable value;
  std::string text;
};
struct Trace {
  std::vector<Seen> seen;
  std::int64_t replays = 0;
  bool resumed = false;
};

/// The first place where two traces differ, in words; empty where they agree in every bit.
std::string difference(const Trace& expected, const Trace& got);

/// Both values, or both texts, in words.
std::string both(const Seen& expected, const Seen& got);

/// A number that stands for all that was seen.
std::uint64_t digest(const Trace& trace);

/// Labels, texts and elements, for another process on the same machine.
void write(std::ostream& file, const Trace& trace);
/// The reverse; throws ebb::Error where the file ends before.
Trace read_trace(std::istream& file);

}  // namespace programs
