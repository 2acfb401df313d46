// Axis: positions and ticks.
#include "watch/drawing/axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace ebb::watch::drawing {
namespace {

// Returns the text of a number without zeros in its exponent: 1e6, not 1e+06.
std::string shortened(const std::string& number) {
  const std::size_t e = number.find('e');
  return number.substr(0, e) +
         (e == number.npos ? "" : "e" + std::to_string(std::stoi(number.substr(e + 1))));
}

}  // namespace

double Axis::scaled(double value) const {
  if (logarithmic_) return std::log10(value);
  return std::abs(value) < 1e-300 ? 0 : value;  // the step between ticks must not underflow
}

bool Axis::shows(double value) const {
  // Beyond, differences overflow, and powers of ten in the margins too.
  return logarithmic_ ? value > 1e-250 && value < 1e250 : std::abs(value) < 1e300;
}

void Axis::include(double value) {
  low_ = std::min(low_, scaled(value));
  high_ = std::max(high_, scaled(value));
}

void Axis::place(double from, double to, double margin) {
  from_ = from;
  to_ = to;
  if (low_ > high_) low_ = 0, high_ = 1;
  if (grounded_) low_ = logarithmic_ ? std::floor(low_ - 0.1) : std::min(low_, 0.0);
  if (grounded_ && !logarithmic_) high_ = std::max(high_, 0.0);
  const double size = std::max(std::abs(low_), std::abs(high_));
  const bool is_flat = high_ - low_ <= 1e-10 * size;
  const double extra = !is_flat ? margin * (high_ - low_) : logarithmic_ || size == 0 ? 0.5 : 0.1 * size;
  if (!grounded_ || low_ != 0 || is_flat) low_ -= extra;
  if (!grounded_ || high_ != 0 || is_flat) high_ += extra;
}

double Axis::at(double value) const {
  return from_ + (scaled(value) - low_) / (high_ - low_) * (to_ - from_);
}

std::vector<Tick> Axis::linear_ticks(double low, double high, std::size_t most) const {
  // The steps are 1, 2 and 5 times a power of ten, then the next power.
  auto exponent = static_cast<int>(std::floor(std::log10((high - low) / static_cast<double>(most))));
  double step = 0, first = 0, count = std::numeric_limits<double>::infinity();
  for (int factor = 1; count > static_cast<double>(most); factor = factor == 1 ? 2 : factor == 2 ? 5 : 10) {
    if (factor == 10) factor = 1, ++exponent;
    step = factor * std::pow(10, exponent);
    first = std::ceil(low / step - 1e-9);
    count = std::floor(high / step + 1e-9) - first + 1;
  }
  const double size = std::max(std::abs(low), std::abs(high));
  const bool is_scientific = size >= 1e6 || size < 1e-4;
  const int digits =
      std::max(0, (is_scientific ? static_cast<int>(std::floor(std::log10(size))) : 0) - exponent);
  std::vector<Tick> ticks;
  for (double i = first; i < first + count; ++i) {
    const std::string text =
        fmt::format(fmt::runtime(is_scientific ? "{:.{}e}" : "{:.{}f}"), i * step, digits);
    ticks.push_back({at(i * step), i == 0 ? "0" : shortened(text)});
  }
  return ticks;
}

std::vector<Tick> Axis::powers_of_ten(const std::vector<int>& factors, int stride) const {
  std::vector<Tick> ticks;
  const int first = static_cast<int>(std::floor(low_)), last = static_cast<int>(std::floor(high_));
  const bool is_plain = low_ > -4 && high_ < 5;
  for (int exponent = first; exponent <= last; ++exponent)
    for (const int factor : factors) {
      const double value = factor * std::pow(10, exponent), place = scaled(value);
      if (exponent % stride == 0 && place > low_ - 1e-9 && place < high_ + 1e-9)
        ticks.push_back(
            {at(value), shortened(fmt::format(fmt::runtime(is_plain ? "{:g}" : "{:.0e}"), value))});
    }
  return ticks;
}

std::vector<Tick> Axis::ticks(std::size_t most) const {
  if (!logarithmic_) return linear_ticks(low_, high_, most);
  const int low = static_cast<int>(std::ceil(low_)), high = static_cast<int>(std::floor(high_));
  const std::vector<Tick> ticks = powers_of_ten({1, 2, 5}, 1);
  if (high - low < 2 && ticks.size() > 1 && ticks.size() <= most) return ticks;
  if (high <= low) return linear_ticks(std::pow(10, low_), std::pow(10, high_), most);
  return powers_of_ten({1}, (high - low) / static_cast<int>(most) + 1);
}

}  // namespace ebb::watch::drawing
