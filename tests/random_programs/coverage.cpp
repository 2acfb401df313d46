// Counts the kinds of statements in programs, alone and in pairs.
#include "random_programs/coverage.h"

#include <iomanip>
#include <ostream>

#include "random_programs/kinds.h"

namespace programs {

void Coverage::add(const Program& program) {
  std::map<std::string, int> here;
  const auto count = [&](const Statements& list) {
    for (const Statement& s : list) ++here[s.kind];
  };
  count(program.setup);
  count(program.body);
  for (const Statements& each : program.between) count(each);
  ++programs_;
  for (const auto& [a, times] : here) {
    ++kinds_[a];
    for (const auto& [b, also] : here)
      if (a < b || (a == b && times > 1)) ++pairs_[{a, b}];
  }
}

int Coverage::programs_with(const std::string& kind) const {
  const auto found = kinds_.find(kind);
  return found == kinds_.end() ? 0 : found->second;
}
int Coverage::programs_with(const std::string& a, const std::string& b) const {
  const auto found = pairs_.find({std::min(a, b), std::max(a, b)});
  return found == pairs_.end() ? 0 : found->second;
}

std::ostream& operator<<(std::ostream& out, const Coverage& coverage) {
  out << "kind, of " << coverage.programs_ << " programs, with each kind:\n"
      << std::setw(16) << ""
      << "   all";
  for (std::size_t i = 0; i < kinds().size(); ++i) out << std::setw(6) << i + 1;
  std::size_t row = 0;
  for (const Kind& a : kinds()) {
    out << "\n"
        << std::setw(2) << ++row << ' ' << std::left << std::setw(13) << a.name.substr(0, 13) << std::right
        << std::setw(6) << coverage.programs_with(a.name);
    for (const Kind& b : kinds()) out << std::setw(6) << coverage.programs_with(a.name, b.name);
  }
  return out << "\n";
}

}  // namespace programs
