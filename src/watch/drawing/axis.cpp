// Axis: positions and ticks.
#include "watch/drawing/axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace ebb::watch::drawing {
namespace {

// Returns the text of a number without zeros in its exponent: 1e6, not 1e+06.
std::string shortened(std::string number) {
  const std::size_t e = number.find('e');
  return e == number.npos ? number
                          : number.substr(0, e + 1) + std::to_string(std::stoi(number.substr(e + 1)));
}

std::string power_of_ten(int exponent, bool plain) {
  return plain ? fmt::format("{:g}", std::pow(10, exponent)) : fmt::format("1e{}", exponent);
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
  int exponent = static_cast<int>(std::floor(std::log10((high - low) / static_cast<double>(most))));
  double step = 0, first = 0, count = 0;
  for (int i = 0; i == 0 || count > static_cast<double>(most); ++i) {
    constexpr int kFactors[] = {1, 2, 5};
    if (i > 0 && i % 3 == 0) ++exponent;
    step = kFactors[i % 3] * std::pow(10, exponent);
    first = std::ceil(low / step - 1e-9);
    count = std::floor(high / step + 1e-9) - first + 1;
  }
  const double size = std::max(std::abs(low), std::abs(high));
  const bool scientific = size >= 1e6 || exponent < -5;
  const int digits = scientific ? static_cast<int>(std::floor(std::log10(size))) - exponent : -exponent;
  std::vector<Tick> ticks;
  for (double i = first; i < first + count; ++i) {
    const double value = i == 0 ? 0 : i * step;
    const std::string text = scientific ? fmt::format("{:.{}e}", value, std::max(digits, 0))
                                        : fmt::format("{:.{}f}", value, std::max(digits, 0));
    ticks.push_back({at(value), value == 0 ? "0" : shortened(text)});
  }
  return ticks;
}

std::vector<Tick> Axis::ticks(std::size_t most) const {
  if (!logarithmic_) return linear_ticks(low_, high_, most);
  const int low = static_cast<int>(std::ceil(low_)), high = static_cast<int>(std::floor(high_));
  std::vector<Tick> ticks;
  if (high - low < 2)
    for (int exponent = low - 1; exponent <= high; ++exponent)
      for (const int factor : {1, 2, 5}) {
        const double value = factor * std::pow(10, exponent);
        if (scaled(value) >= low_ && scaled(value) <= high_)
          ticks.push_back({at(value), shortened(fmt::format("{:g}", value))});
      }
  if (ticks.size() > 1 && ticks.size() <= most) return ticks;
  if (high <= low) return linear_ticks(std::pow(10, low_), std::pow(10, high_), most);
  ticks.clear();
  const int stride = (high - low) / static_cast<int>(most) + 1;
  for (int exponent = low; exponent <= high; ++exponent)
    if (exponent % stride == 0)
      ticks.push_back({at(std::pow(10, exponent)), power_of_ten(exponent, low >= -3 && high <= 4)});
  return ticks;
}

}  // namespace ebb::watch::drawing
