// Generates programs, counts their statement kinds, prints them as source, and shrinks failing ones.
#pragma once

#include "random_programs/kinds.h"
#include "random_programs/program.h"

#include <functional>
#include <iosfwd>
#include <map>
#include <string>
#include <utility>

namespace programs {

struct Limits {
  int least = 5, most = 40;  ///< statements of the body
  int calls = 8;
  bool large =
      true;  ///< one in ten has tensors of several blocks, one in fifty has tensors that threads share
  bool returns_all = false;  ///< all tensors that the body creates are results, not only a few
  /// Rejects a statement (returns false), or changes its numbers before it runs. If empty, all statements are
  /// accepted.
  std::function<bool(Statement&)> adapt = nullptr;
};

/// Generates a program of valid statements: each one ran on the results of the previous ones. Statements that
/// throw are dropped, except a few at the end of the body.
Program generate(Draw& draw, const Limits& limits = {});

// Counts statement kinds and pairs of kinds in programs.

class Coverage {
 public:
  void add(const Program& program);
  /// The number of added programs that contain a statement of the kind, or of both kinds. A kind is paired
  /// with itself if it occurs twice.
  int programs_with(const std::string& kind) const;
  int programs_with(const std::string& a, const std::string& b) const;
  /// Prints a table: the number of programs with each kind and with each pair of kinds.
  friend std::ostream& operator<<(std::ostream& out, const Coverage& coverage);

 private:
  int programs_ = 0;
  std::map<std::string, int> kinds_;
  std::map<std::pair<std::string, std::string>, int> pairs_;
};

// Programs as source code.

/// The function and its calls as C++ or Python, one statement per line.
std::string source(const Program& program, Language language);

// Shrinks a failing program.

/// Returns a program with as few statements, calls and results as the search finds, for which `fails` still
/// holds.
Program shrink(Program program, const std::function<bool(const Program&)>& fails);

}  // namespace programs
