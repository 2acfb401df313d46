// Runs the cases of a test program, for programs that look at the machine first.
#pragma once

#include <functional>
#include <string>

namespace support {

/// Does what the command line asks of Catch2 and returns the exit status. Where `obstacle` returns a reason
/// not to run any case, the program prints "skipped: " with it and returns 77, which CTest counts as skipped.
/// The names of cases are listed on any machine, by --list-test-names-only in both versions of Catch2.
int run_tests(int argc, char** argv, const std::function<std::string()>& obstacle = {});

}  // namespace support
