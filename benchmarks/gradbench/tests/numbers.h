// Numbers to ask with, derivatives by differences, and comparisons.
#pragma once

#include "tool.h"

#include <functional>
#include <vector>

namespace gradbench_test {

using Numbers = std::vector<double>;
using Rows = std::vector<Numbers>;

/// `count` numbers between -1 and 1, always the same.
Numbers some(std::size_t count);
/// Rows of such.
Rows some(std::size_t rows, std::size_t columns);

/// All rows in one list.
Numbers flat(const Rows& rows);

/// The gradient of f at x by differences of fourth order: to about ten digits.
Numbers slopes(const std::function<double(const Numbers&)>& f, Numbers x);

/// Relative to the largest of the expected numbers.
void check_close(const Json& given, const Numbers& expected, double tolerance = 1e-8);

}  // namespace gradbench_test
