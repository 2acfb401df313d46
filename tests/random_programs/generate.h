// Draws programs, counts the kinds of statements in them, prints them as source, and makes failing ones
// small.
#pragma once

#include "random_programs/draw.h"
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
  bool large = true;  ///< one in ten has tensors of several blocks, one in fifty such that threads share
  bool returns_all = false;  ///< every tensor that the body makes is a result, not a few of them
  /// Refuses a statement (false), or changes its numbers before it runs; none takes all as they are drawn.
  std::function<bool(Statement&)> adapt = nullptr;
};

/// A program whose statements fit together: each was run on what those before it gave. Statements that throw
/// are left out, but for a few that end the body.
Program generate(Draw& draw, const Limits& limits = {});

// Counts the kinds of statements in programs, alone and in pairs.

class Coverage {
 public:
  void add(const Program& program);
  /// The number of added programs that have a statement of the kind, or of both kinds; a kind stands
  /// together with itself where it has two.
  int programs_with(const std::string& kind) const;
  int programs_with(const std::string& a, const std::string& b) const;
  /// A table: how many programs have each kind, and each pair of kinds.
  friend std::ostream& operator<<(std::ostream& out, const Coverage& coverage);

 private:
  int programs_ = 0;
  std::map<std::string, int> kinds_;
  std::map<std::pair<std::string, std::string>, int> pairs_;
};

// Programs as source.

/// The function and its calls as statements of C++, or of Python, a statement a line.
std::string source(const Program& program, Language language);

// Makes a failing program small.

/// A program with as few statements, calls and results as the search finds, for which `fails` still holds.
Program shrink(Program program, const std::function<bool(const Program&)>& fails);

}  // namespace programs
