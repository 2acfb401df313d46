// The clock and the options of bars in tests, and the lines that bars write to a file.
#pragma once

#include <ebb/watch.h>

#include "support/files.h"

#include <cstdio>
#include <sstream>
#include <string>
#include <vector>

using Lines = std::vector<std::string>;

/// The time of all bars with options() in seconds. It never goes back, as the limits on lines require.
inline double now = 1000;

inline ebb::watch::ProgressOptions options(int descriptor, ebb::optional<std::int64_t> total = {}) {
  return ebb::watch::ProgressOptions().total(total).descriptor(descriptor).clock([] { return now; });
}

/// The lines in a file that `loop` gets as a descriptor.
template <class Loop>
Lines lines_in_file(const Loop& loop) {
  now += 100;
  const std::string path = support::temporary("log");
  std::FILE* const file = std::fopen(path.c_str(), "w");
  loop(::fileno(file));
  std::fclose(file);
  std::istringstream text(support::read_file(path));
  Lines lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

/// Returns how often a part occurs.
inline std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++n;
  return n;
}
