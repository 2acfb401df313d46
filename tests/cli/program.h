// Starts programs and reads their output.
#pragma once

#include "support/files.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <stdexcept>
#include <string>
#include <vector>

/// The result of a program: its exit status, or the negated number of the signal that ended it.
struct Run {
  int status = 0;
  std::string out, err;
};

/// The path of the program ebb.
inline std::string ebb_program() { return EBB_PROGRAM; }

/// Runs a program to its end, with at most `memory` bytes of address space unless that is 0. If `output` is
/// not empty, the program writes to that path and not to Run::out.
inline Run run(const std::string& program, const std::vector<std::string>& arguments, std::size_t memory = 0,
               const std::string& output = {}) {
  const support::Folder folder;
  const std::string out = output.empty() ? folder / "out" : output, err = folder / "err";
  std::vector<char*> words = {const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("run: cannot start " + program);
  if (child == 0) {
    alarm(120);
    dup2(open(out.c_str(), O_WRONLY | O_CREAT, 0600), STDOUT_FILENO);
    dup2(open(err.c_str(), O_WRONLY | O_CREAT, 0600), STDERR_FILENO);
    if (memory > 0) {
      const rlimit limit{memory, memory};
      setrlimit(RLIMIT_AS, &limit);
    }
    execv(words[0], words.data());
    _exit(127);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return {WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status),
          output.empty() ? support::read_file(out) : "", support::read_file(err)};
}

/// Runs ebb.
inline Run ebb_run(const std::vector<std::string>& arguments) { return run(ebb_program(), arguments); }
