// Programs that tests start, and what they print.
#pragma once

#include <string>
#include <vector>

/// The end of a program: its exit status, or the negative number of the signal that ended it.
struct Run {
  int status = 0;
  std::string out, err;
};

/// The path of the program ebb.
std::string ebb_program();

/// Runs a program to its end; at most `memory` bytes of addresses if that is not 0. Its output goes to
/// `output` in place of Run::out if that is not empty.
Run run(const std::string& program, const std::vector<std::string>& arguments, std::size_t memory = 0,
        const std::string& output = {});

/// Runs ebb.
inline Run ebb_run(const std::vector<std::string>& arguments) { return run(ebb_program(), arguments); }
