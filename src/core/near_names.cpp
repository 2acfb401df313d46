#include "core/near_names.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace ebb::detail {
namespace {

// Levenshtein's, in one row.
std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string near_names(const std::string& wanted, const std::vector<std::string>& have) {
  std::vector<std::pair<std::size_t, const std::string*>> near;
  const std::size_t limit = std::max<std::size_t>(3, wanted.size() / 2);
  for (const std::string& name : have)
    if (const std::size_t d = edit_distance(wanted, name); d <= limit) near.emplace_back(d, &name);
  std::sort(near.begin(), near.end(), [](const auto& x, const auto& y) { return x.first < y.first; });
  if (near.empty()) return {};
  std::string out = " (nearest: ";
  for (std::size_t i = 0; i < near.size() && i < 3 && near[i].first == near[0].first; ++i)
    out += (i ? ", \"" : "\"") + *near[i].second + '"';
  return out + ')';
}

}  // namespace ebb::detail
