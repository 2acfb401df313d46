// Runs the test cases of a program, for programs that check the machine first.
#pragma once

#include <functional>
#include <string>

namespace support {

/// Runs Catch2 with the command line and returns the exit status. If `obstacle` returns a reason to run no
/// case, the program prints "skipped: " and the reason and returns 77, which CTest counts as skipped. Both
/// versions of Catch2 list the names of cases on any machine with --list-test-names-only.
int run_tests(int argc, char** argv, const std::function<std::string()>& obstacle = {});

}  // namespace support
