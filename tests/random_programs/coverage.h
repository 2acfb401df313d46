// Counts the kinds of statements in programs, alone and in pairs.
#pragma once

#include <iosfwd>
#include <map>
#include <string>
#include <utility>

#include "random_programs/program.h"

namespace programs {

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

}  // namespace programs
