// Checks that numbers follow a distribution: one histogram, whose cells end at numbers of the dtype, and four
// tests.
#include <ebb/core/half.h>

#include "random_distributions/law.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <sstream>

namespace distributions {
namespace {

using ebb::Tensor;
using Key = std::int64_t;

constexpr double kShare = kFalseAlarms / 7;  // of each test; the test of adjacent draws runs four times
constexpr int kCells = 128, kTails = 22, kLags[] = {1, 2, 3, 8};

/// The finite numbers of a dtype in order, as keys: adjacent numbers have adjacent keys.
struct Numbers {
  ebb::DType dtype;
  Key last;

  explicit Numbers(ebb::DType type) : dtype(type) {
    last = type == ebb::kHalf       ? 0x7bff
           : type == ebb::kBFloat16 ? 0x7f7f
           : type == ebb::kFloat    ? 0x7f7fffff
           : type == ebb::kDouble   ? 0x7fefffffffffffff
           : type == ebb::kBool     ? 1
           : type == ebb::kByte     ? 255
                                : static_cast<Key>(~std::uint64_t{0} >> (65 - 8 * ebb::element_size(type)));
  }
  bool integral() const { return !ebb::is_floating(dtype); }
  Key first() const {
    return !integral() ? -last : dtype == ebb::kBool || dtype == ebb::kByte ? 0 : -last - 1;
  }
  double at(Key key) const {
    if (integral()) return static_cast<double>(key);
    const auto bits = static_cast<std::uint64_t>(key < 0 ? -key : key);
    const double size = dtype == ebb::kHalf ? ebb::detail::half_to_float(static_cast<std::uint16_t>(bits))
                        : dtype == ebb::kBFloat16
                            ? ebb::detail::bfloat_to_float(static_cast<std::uint16_t>(bits))
                        : dtype == ebb::kFloat ? std::bit_cast<float>(static_cast<std::uint32_t>(bits))
                                               : std::bit_cast<double>(bits);
    return key < 0 ? -size : size;
  }
  /// Returns the point at which rounding switches from this number to the next.
  double end(Key key) const {
    if (key < first()) return integral() ? -INFINITY : -end(last);
    const double here = at(key);
    if (integral() || dtype == ebb::kDouble) return here;
    const double half = key == last ? (here - at(key - 1)) / 2 : (at(key + 1) - here) / 2;
    return (key & 1) == 0 ? here + half : std::nextafter(here + half, -INFINITY);
  }
  double step(Key key) const {
    return std::fabs(at(std::min(key, last - 1) + 1) - at(std::min(key, last - 1)));
  }
};

/// Bounds of the probability of numbers up to one of the dtype; they are equal if numbers are only rounded.
struct Bounds {
  double low, high;
};

Bounds bounds(const Law& law, const Numbers& numbers, Key key) {
  if (numbers.integral() && key >= numbers.last) return {1, 1};  // numbers beyond become the largest
  const double end = numbers.end(key),
               moved = law.apart + law.steps * numbers.step(std::max(key, numbers.first()));
  return {law.below(end - moved), law.below(end + moved)};
}

/// Returns the first number for which `reaches` is true; it is true for all later ones.
template <class Reaches>
Key first_that(const Numbers& numbers, Reaches&& reaches) {
  Key low = numbers.first(), high = numbers.last;
  while (low < high) {
    const Key middle = std::midpoint(low, high);
    if (reaches(middle))
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

struct Histogram {
  std::vector<Bounds> upto;  // up to the end of each cell; the last cell has no end
  std::vector<double> ends;
  std::vector<double> counts;      // of each cell
  std::vector<std::int32_t> cell;  // of each draw, in order
  double n;
};

Histogram histogram_of(const Tensor& draws, const Law& law) {
  const Numbers numbers(draws.dtype());
  const auto level = [&](double share) {
    return first_that(numbers, [&](Key key) {
      const Bounds b = bounds(law, numbers, key);
      return (b.low + b.high) / 2 >= share;
    });
  };
  const Key least = first_that(numbers, [&](Key key) { return bounds(law, numbers, key).high > 0; });
  std::vector<Key> keys = {least,
                           first_that(numbers, [&](Key key) { return bounds(law, numbers, key).low >= 1; })};
  if (!numbers.integral() || least > numbers.first()) keys.push_back(least - 1);
  for (int i = 1; i < kCells; ++i) keys.push_back(level(static_cast<double>(i) / kCells));
  for (int i = 6; i < kTails; ++i)
    for (const double tail : {std::ldexp(1.0, -i), 1 - std::ldexp(1.0, -i)}) keys.push_back(level(tail));
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  Histogram all;
  for (const Key key : keys) {
    all.upto.push_back(bounds(law, numbers, key));
    all.ends.push_back(key < numbers.first() && !numbers.integral() ? -INFINITY : numbers.at(key));
  }
  all.upto.push_back({1, 1});
  const Tensor flat = draws.detach().cpu().to(ebb::kDouble).flatten(),
               cells = ebb::searchsorted(ebb::tensor(all.ends, ebb::kDouble), flat, true).contiguous();
  const std::int32_t* const at = cells.data_ptr<std::int32_t>();
  all.cell.assign(at, at + cells.numel());
  all.counts.resize(all.upto.size());
  for (const std::int32_t c : all.cell) ++all.counts[static_cast<std::size_t>(c)];
  all.n = static_cast<double>(all.cell.size());
  return all;
}

/// Returns the logarithm of a bound of the probability that n trials of probability p have a share as far
/// from p as q.
double log_tail(double n, double q, double p) {
  const auto part = [](double x, double y) { return x > 0 ? x * std::log(x / y) : 0; };
  return -n * (part(q, p) + part(1 - q, 1 - p));
}

/// Returns the same bound for a chi-square of at least x.
double log_chi_square_tail(double x, double freedom) {
  const double times = x / freedom;
  return times <= 1 ? 0 : freedom / 2 * (std::log(times) + 1 - times);
}

/// Tests that no number occurs that the distribution cannot give.
void test_impossible(const Histogram& all, std::ostream& out) {
  for (std::size_t i = 0; i < all.counts.size(); ++i)
    if (all.counts[i] > 0 && all.upto[i].high <= (i ? all.upto[i - 1].low : 0))
      out << all.counts[i] << " draws are " << (i < all.ends.size() ? "at or below " : "above ")
          << all.ends[std::min(i, all.ends.size() - 1)] << ", where the distribution has no values; ";
}

/// Tests the shares up to each end of a cell: with one bound for all, and with one bound each for the tails.
void test_shares(const Histogram& all, std::ostream& out) {
  const double apart = std::sqrt(std::log(2 / kShare) / (2 * all.n));
  const double tail = std::log(kShare / (4 * kTails));
  double count = 0;
  for (std::size_t i = 0; i < all.ends.size(); ++i) {
    count += all.counts[i];
    const double share = count / all.n, p = std::clamp(share, all.upto[i].low, all.upto[i].high);
    const bool far = p < 0x1p-5 || p > 1 - 0x1p-5;
    if (std::fabs(share - p) <= apart && (!far || log_tail(all.n, share, p) >= tail)) continue;
    out << "the share up to " << all.ends[i] << " is " << share << " for " << p << "; ";
    return;
  }
}

/// Tests the counts of the cells with chi-square, if the distribution gives their exact probabilities.
void test_cells(const Histogram& all, std::ostream& out) {
  double sum = 0, cells = 0, before = 0, count = 0;
  for (std::size_t i = 0; i < all.counts.size(); ++i) {
    if (all.upto[i].low != all.upto[i].high) return;
    count += all.counts[i];
    const double expected = all.n * (all.upto[i].low - before), left = all.n * (1 - all.upto[i].low);
    if (left > 0 ? expected < 50 || left < 50 : expected <= 0) continue;  // merged with the next cells
    sum += (count - expected) * (count - expected) / expected;
    ++cells;
    before = all.upto[i].low;
    count = 0;
  }
  if (cells > 1 && log_chi_square_tail(sum, cells - 1) < std::log(kShare))
    out << "chi-square of " << cells << " cells is " << sum << "; ";
}

/// Tests that adjacent draws, in eight classes of about equal size, are independent.
void test_independence(const Histogram& all, std::ostream& out) {
  std::vector<std::size_t> class_of;
  double count = 0;
  std::size_t classes = 0;
  for (const double c : all.counts) {
    class_of.push_back(classes);
    if ((count += c) < all.n / 8) continue;
    ++classes;
    count = 0;
  }
  classes += count > 0;
  for (const std::size_t lag : kLags) {
    std::vector<double> pairs(classes * classes), first(classes), second(classes);
    double n = 0, sum = 0, rows = 0, columns = 0;
    for (std::size_t i = 0; i + lag < all.cell.size(); i += i % (2 * lag) == lag - 1 ? lag + 1 : 1, ++n) {
      const std::size_t a = class_of[static_cast<std::size_t>(all.cell[i])],
                        b = class_of[static_cast<std::size_t>(all.cell[i + lag])];
      ++pairs[a * classes + b], ++first[a], ++second[b];
    }
    for (std::size_t a = 0; a < classes; ++a) {
      rows += first[a] > 0, columns += second[a] > 0;
      for (std::size_t b = 0; b < classes; ++b) {
        const double expected = first[a] * second[b] / n;
        if (expected < 10) continue;  // too few to test; omitting them makes the sum smaller
        sum += (pairs[a * classes + b] - expected) * (pairs[a * classes + b] - expected) / expected;
      }
    }
    const double freedom = (rows - 1) * (columns - 1);
    if (freedom > 0 && log_chi_square_tail(sum, freedom) < std::log(kShare))
      out << "draws at a distance of " << lag << " are dependent: chi-square with " << freedom << " is "
          << sum << "; ";
  }
}

}  // namespace

std::string complaint_about(const Tensor& draws, const Law& law) {
  std::ostringstream out;
  if (draws.isnan().any().item<bool>()) out << "some draws are NaN; ";
  for (const double value : law.never)
    if (draws.eq(value).any().item<bool>()) out << value << " occurred, which is not allowed; ";
  const Histogram all = histogram_of(draws, law);
  test_impossible(all, out);
  test_shares(all, out);
  test_cells(all, out);
  test_independence(all, out);
  return out.str();
}

}  // namespace distributions
