// Demangled type names, and the existing names nearest to an unknown one.
#include "core/messages.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <utility>

namespace ebb::detail {

std::string demangled(const std::type_info& type) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(type.name(), nullptr, nullptr, &status), &std::free);
  return status == 0 ? text.get() : type.name();
}

namespace {

// A digit costs twice as much, because names that differ in a digit are usually different things, not typing
// errors.
std::size_t cost(char c) { return c >= '0' && c <= '9' ? 2 : 1; }
std::size_t cost(char a, char b) { return std::max(cost(a), cost(b)); }

// Returns the least total cost of insertions, deletions, replacements and swaps of neighbours (optimal string
// alignment). If the cost exceeds `limit`, may return `limit` + 1.
std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t limit) {
  while (!a.empty() && !b.empty() && a.front() == b.front()) a.remove_prefix(1), b.remove_prefix(1);
  while (!a.empty() && !b.empty() && a.back() == b.back()) a.remove_suffix(1), b.remove_suffix(1);
  if ((a.size() > b.size() ? a.size() - b.size() : b.size() - a.size()) > limit) return limit + 1;
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 1; j <= b.size(); ++j) row[j] = row[j - 1] + cost(b[j - 1]);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::swap(before, last);
    std::swap(last, row);
    row[0] = last[0] + cost(a[i - 1]);
    std::size_t least = row[0];
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const char x = a[i - 1], y = b[j - 1];
      row[j] = std::min({last[j - 1] + (x == y ? 0 : cost(x, y)), last[j] + cost(x), row[j - 1] + cost(y)});
      if (i > 1 && j > 1 && x == b[j - 2] && a[i - 2] == y)
        row[j] = std::min(row[j], before[j - 2] + cost(x, y));
      least = std::min(least, row[j]);
    }
    // Stops only if both rows exceed the limit, because a swap continues from the row before the last one.
    if (least > limit && *std::min_element(last.begin(), last.end()) > limit) return limit + 1;
  }
  return row.back();
}

std::string_view last_component(std::string_view name) { return name.substr(name.rfind('.') + 1); }

}  // namespace

std::string near_names(const std::string& wanted, const std::vector<std::string>& have) {
  using Distance = std::pair<std::size_t, std::size_t>;  // distances of the name and of its last component
  Distance best{std::max<std::size_t>(3, wanted.size() / 2), wanted.size()};
  std::vector<const std::string*> near;
  for (const std::string& name : have) {
    Distance d{edit_distance(wanted, name, best.first), 0};
    if (d.first > best.first) continue;
    d.second = edit_distance(last_component(wanted), last_component(name), wanted.size());
    if (d > best) continue;
    if (d < best) near.clear();
    best = d;
    if (near.size() < 3) near.push_back(&name);
  }
  if (near.empty()) return {};
  std::string out = " (nearest: ";
  for (std::size_t i = 0; i < near.size(); ++i) out += (i ? ", \"" : "\"") + *near[i] + '"';
  return out + ')';
}

}  // namespace ebb::detail
