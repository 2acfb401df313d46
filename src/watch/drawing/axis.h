// Axis: maps values to positions, linearly or logarithmically, and chooses ticks at round numbers.
#pragma once

#include <limits>
#include <string>
#include <vector>

namespace ebb::watch::drawing {

struct Tick {
  double at;
  std::string label;
};

class Axis {
 public:
  /// On a `grounded` axis bars stand: it contains 0, or begins at a power of ten below the values.
  Axis(bool logarithmic, bool grounded) : logarithmic_(logarithmic), grounded_(grounded) {}

  /// Returns whether the value has a position: it is neither infinite nor too large, and on a logarithmic
  /// axis positive.
  bool shows(double value) const;
  /// Widens the axis to contain the value.
  void include(double value);
  /// Sets the positions of both ends, after the last include(), with a margin in parts of the length.
  void place(double from, double to, double margin);
  double at(double value) const;
  /// Returns the position at which bars begin.
  double ground() const { return logarithmic_ ? from_ : at(0); }
  /// Returns at most `most` ticks: multiples of 1, 2 or 5 times a power of ten. A logarithmic axis of more
  /// than two decades has powers of ten.
  std::vector<Tick> ticks(std::size_t most) const;

 private:
  double scaled(double value) const;
  std::vector<Tick> linear_ticks(double low, double high, std::size_t most) const;
  std::vector<Tick> powers_of_ten(const std::vector<int>& factors, int stride) const;

  bool logarithmic_, grounded_;
  double low_ = std::numeric_limits<double>::infinity(), high_ = -low_;  // scaled
  double from_ = 0, to_ = 1;
};

}  // namespace ebb::watch::drawing
