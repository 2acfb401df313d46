// Programs that tests start, and their output.
#pragma once

#include <string>
#include <vector>

/// The result of a program: its exit status, or the negated number of the signal that ended it.
struct Run {
  int status = 0;
  std::string out, err;
};

/// The path of the program ebb.
std::string ebb_program();

/// Runs a program to its end, with at most `memory` bytes of address space unless that is 0. If `output` is
/// not empty, the program writes to that path and not to Run::out.
Run run(const std::string& program, const std::vector<std::string>& arguments, std::size_t memory = 0,
        const std::string& output = {});

/// Runs ebb.
inline Run ebb_run(const std::vector<std::string>& arguments) { return run(ebb_program(), arguments); }
