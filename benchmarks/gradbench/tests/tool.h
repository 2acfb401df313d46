// The program gradbench as an eval sees it: a message goes in, an answer comes out.
#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace gradbench_test {

using Json = nlohmann::json;

/// Sends a message to the one process of this test program, and waits for the answer to it.
Json ask(Json message);

/// The answer to "evaluate", which has to succeed.
Json evaluate(const std::string& module, const std::string& function, const Json& input);

/// Its output alone.
Json output_of(const std::string& module, const std::string& function, const Json& input);

}  // namespace gradbench_test
