// Bounds that follow from the program's own condition.
#include "random_programs/bounds.h"

#include <algorithm>
#include <cmath>

#include "random_programs/perturb.h"

namespace programs {
namespace {

using ebb::Variable;

// With fewer runs, all choose the same side of a tie too often.
constexpr std::uint64_t kPerturbed = 6;

Variable doubles(const Variable& x) { return x.to(ebb::kDouble).contiguous(); }

// Messages of errors name shapes and devices.
bool is_error(const Seen& seen) { return seen.label.ends_with(", error"); }

}  // namespace

Bounds::Bounds(const Program& program) : expected_(run(program, ways().front())) {
  for (std::uint64_t seed = 1; seed <= kPerturbed; ++seed) {
    perturbed_.push_back(run(program, {.name = "perturbed", .perturbed = seed}));
    const std::vector<Seen>& seen = perturbed_.back().seen;
    decided_ = decided_ && seen.size() == expected_.seen.size();
    for (std::size_t i = 0; decided_ && i < seen.size(); ++i)
      decided_ = seen[i].label == expected_.seen[i].label;
  }
}

bool Bounds::same_text_always(std::size_t i) const {
  return std::all_of(perturbed_.begin(), perturbed_.end(),
                     [&](const Trace& each) { return each.seen[i].text == expected_.seen[i].text; });
}

bool Bounds::within(std::size_t i, const Variable& got) const {
  const Variable& expected = expected_.seen[i].value;
  const auto like_expected = [&](const Variable& x) {
    return x.defined() == expected.defined() &&
           (!x.defined() || (x.sizes() == expected.sizes() && x.dtype() == expected.dtype()));
  };
  std::vector<Variable> others;
  for (const Trace& each : perturbed_) {
    if (!like_expected(each.seen[i].value)) return true;
    if (expected.defined()) others.push_back(doubles(each.seen[i].value));
  }
  if (!like_expected(got)) return false;
  if (!expected.defined()) return true;

  const Variable e = doubles(expected), g = doubles(got);
  const auto at = [](const Variable& x, std::int64_t k) { return x.data_ptr<double>()[k]; };
  double spread = 0, largest = 0;
  for (std::int64_t k = 0; k < e.numel(); ++k) {
    if (!std::isfinite(at(e, k))) continue;
    largest = std::max(largest, std::abs(at(e, k)));
    for (const Variable& other : others)
      if (std::isfinite(at(other, k))) spread = std::max(spread, std::abs(at(other, k) - at(e, k)));
  }
  // Such runs are chaos: a few of them do not tell how far others go.
  constexpr double kChaos = 0.25;
  if (spread > kChaos * largest) return true;
  const bool floating = expected.is_floating_point();
  const double bound = floating ? spread + 2 * epsilon_of(expected.dtype()) * largest : 0;
  const auto is_exact = [&](double x) { return !floating || !std::isfinite(x); };
  const auto same = [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); };
  // Chance decides between equal elements, so any may agree.
  for (const Variable& other : others)
    for (std::int64_t k = 0; k < e.numel(); ++k)
      if ((is_exact(at(e, k)) || is_exact(at(other, k))) && !same(at(e, k), at(other, k))) return true;
  for (std::int64_t k = 0; k < e.numel(); ++k) {
    const double a = at(e, k), b = at(g, k);
    // A mean that is updated element by element (Welford) ends as NaN where a sum ends as an infinity.
    if (std::isinf(a) && std::isnan(b)) continue;
    if (is_exact(a) ? !same(a, b) : !(std::abs(a - b) <= bound)) return false;
  }
  return true;
}

std::string Bounds::violation(const Trace& got) const {
  if (!decided_) return "";
  for (std::size_t i = 0; i < std::min(expected_.seen.size(), got.seen.size()); ++i) {
    const Seen &a = expected_.seen[i], &b = got.seen[i];
    if (a.label != b.label) return both(a, b);
    if (is_error(a)) continue;
    if (a.text != b.text && same_text_always(i)) return both(a, b);
    if (!within(i, b.value)) return both(a, b);
  }
  return expected_.seen.size() == got.seen.size() ? "" : "one has seen more";
}

}  // namespace programs
