// Differences, and what a number is compared by.
#include "numbers.h"
#include "support/compare.h"

#include <algorithm>
#include <cmath>

namespace gradbench_test {

Numbers some(std::size_t count) {
  Numbers numbers(count);
  for (std::size_t i = 0; i < count; ++i) numbers[i] = std::sin(1.7 * static_cast<double>(i * i + 1));
  return numbers;
}

Rows some(std::size_t rows, std::size_t columns) {
  const Numbers all = some(rows * columns);
  Rows result;
  for (std::size_t row = 0; row < rows; ++row) {
    const auto start = all.begin() + static_cast<std::ptrdiff_t>(row * columns);
    result.emplace_back(start, start + static_cast<std::ptrdiff_t>(columns));
  }
  return result;
}

Numbers flat(const Rows& rows) {
  Numbers all;
  for (const Numbers& row : rows) all.insert(all.end(), row.begin(), row.end());
  return all;
}

Numbers slopes(const std::function<double(const Numbers&)>& f, Numbers x) {
  Numbers result;
  const double h = 1e-3;
  for (double& entry : x) {
    const double at = entry;
    const auto moved = [&](double by) {
      entry = at + by;
      return f(x);
    };
    result.push_back((8 * (moved(h) - moved(-h)) - (moved(2 * h) - moved(-2 * h))) / (12 * h));
    entry = at;
  }
  return result;
}

void check_close(const Json& given, const Numbers& expected, double tolerance) {
  const Numbers numbers = given.is_array() ? given.get<Numbers>() : Numbers{given.get<double>()};
  double largest = 0;
  for (const double number : expected) largest = std::max(largest, std::abs(number));
  support::require_close(numbers, expected, 0, tolerance * largest);
}

}  // namespace gradbench_test
