// Messages to the program gradbench, test data, finite differences, and comparisons.
#pragma once

#include <nlohmann/json.hpp>

#include <functional>
#include <string>
#include <vector>

// Messages to the program gradbench.

namespace gradbench_test {

using Json = nlohmann::json;

/// Sends a message to the process of this test program and returns the answer.
Json ask(Json message);

/// Returns the answer to "evaluate", which must succeed.
Json evaluate(const std::string& module, const std::string& function, const Json& input);

/// Returns only the output of the answer to "evaluate".
Json output_of(const std::string& module, const std::string& function, const Json& input);

// Test data, finite differences, and comparisons.

using Numbers = std::vector<double>;
using Rows = std::vector<Numbers>;

/// Returns `count` fixed numbers between -1 and 1.
Numbers some(std::size_t count);
/// Returns rows of fixed numbers between -1 and 1.
Rows some(std::size_t rows, std::size_t columns);

/// Returns all rows in one list.
Numbers flat(const Rows& rows);

/// Returns the gradient of f at x with finite differences of fourth order, accurate to about ten digits.
Numbers slopes(const std::function<double(const Numbers&)>& f, Numbers x);

/// Compares numbers with a tolerance relative to the largest expected one.
void check_close(const Json& given, const Numbers& expected, double tolerance = 1e-8);

}  // namespace gradbench_test
