// Guard: kills the processes of ranks when their agent has been killed.
#include <ebb/core/error.h>

#include "distributed/run/job.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>

namespace ebb::distributed::run {
namespace {

// Reads groups until the agent has ended, and kills those that are left.
[[noreturn]] void watch(int from) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, nullptr);
  setsid();  // a signal to the agent's group must not reach the guard
  dup2(from, STDIN_FILENO);
  const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  for (const int output : {STDOUT_FILENO, STDERR_FILENO}) dup2(nowhere, output);
  close_range(STDERR_FILENO + 1, UINT_MAX, 0);
  std::vector<pid_t> groups;
  for (pid_t group = 0; read(STDIN_FILENO, &group, sizeof group) == sizeof group;)
    if (group > 0)
      groups.push_back(group);
    else
      std::erase(groups, -group);
  for (const pid_t group : groups) kill(-group, SIGKILL);
  _exit(0);
}

}  // namespace

void Guard::start() {
  if (pipe_ >= 0) return;
  int ends[2] = {-1, -1};
  EBB_CHECK(pipe2(ends, O_CLOEXEC) == 0, "cannot start a process: ", std::strerror(errno),
            ". Raise `ulimit -n`");
  const pid_t child = fork();
  EBB_CHECK(child >= 0, "cannot start a process: ", std::strerror(errno), ". Raise `ulimit -u`");
  if (child == 0) {
    close(ends[1]);
    watch(ends[0]);
  }
  close(ends[0]);
  pipe_ = ends[1];
}

void Guard::tell(pid_t group) const { static_cast<void>(!write(pipe_, &group, sizeof group)); }

Guard::~Guard() {
  if (pipe_ >= 0) close(pipe_);
}

}  // namespace ebb::distributed::run
