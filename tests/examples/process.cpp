// A child process.
#include "examples/process.h"

#include <pty.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <stdexcept>

namespace {

winsize size_of(int columns) { return {24, static_cast<unsigned short>(columns), 0, 0}; }

}  // namespace

Process::Process(const std::vector<std::string>& command, int columns) {
  std::vector<char*> arguments;
  for (const std::string& each : command) arguments.push_back(const_cast<char*>(each.c_str()));
  arguments.push_back(nullptr);
  int ends[2] = {-1, -1};
  if (columns) {
    const winsize size = size_of(columns);
    child_ = forkpty(&file_, nullptr, nullptr, &size);
  } else {
    if (pipe(ends) != 0) throw std::runtime_error("Process: there is no pipe");
    child_ = fork();
    file_ = ends[0];
  }
  if (child_ < 0) throw std::runtime_error("Process: cannot start " + command.front());
  if (child_ == 0) {
    if (!columns) {
      dup2(ends[1], STDOUT_FILENO);
      dup2(ends[1], STDERR_FILENO);
      close(ends[0]);
      close(ends[1]);
    }
    std::signal(SIGINT, SIG_DFL);
    setenv("TERM", "xterm", 1);
    execv(arguments[0], arguments.data());
    _exit(127);
  }
  if (!columns) close(ends[1]);
}

Process::~Process() {
  if (child_ > 0) {
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
  }
  close(file_);
}

// A terminal whose program has ended gives an error and not the end of a file.
bool Process::read_more() {
  char some[4096];
  const ssize_t count = read(file_, some, sizeof some);
  if (count > 0) output_.append(some, static_cast<std::size_t>(count));
  return count > 0;
}

void Process::wait_for(const std::string& text) {
  while (output_.find(text) == std::string::npos && read_more()) {
  }
}

void Process::interrupt() { kill(child_, SIGINT); }

void Process::resize(int columns) {
  const winsize size = size_of(columns);
  ioctl(file_, TIOCSWINSZ, &size);
}

int Process::end() {
  while (read_more()) {
  }
  int status = 0;
  waitpid(child_, &status, 0);
  child_ = -1;
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}
