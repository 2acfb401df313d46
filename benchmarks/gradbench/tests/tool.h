// The program gradbench as an eval sees it, numbers to ask with, derivatives by differences, and comparisons.
#pragma once

#include <nlohmann/json.hpp>

#include <functional>
#include <string>
#include <vector>

// The program gradbench as an eval sees it: a message goes in, an answer comes out.

namespace gradbench_test {

using Json = nlohmann::json;

/// Sends a message to the one process of this test program, and waits for the answer to it.
Json ask(Json message);

/// The answer to "evaluate", which has to succeed.
Json evaluate(const std::string& module, const std::string& function, const Json& input);

/// Its output alone.
Json output_of(const std::string& module, const std::string& function, const Json& input);

// Numbers to ask with, derivatives by differences, and comparisons.

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
