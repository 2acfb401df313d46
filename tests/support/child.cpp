// Child processes that are killed during their writes.
#include "support/child.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <random>
#include <stdexcept>

namespace support {
namespace {

constexpr int kInCall = SIGTRAP | 0x80;

const std::map<std::uint64_t, const char*>& calls_on_files() {
  static const std::map<std::uint64_t, const char*> calls = {
      {SYS_openat, "openat"},       {SYS_write, "write"},     {SYS_pwrite64, "pwrite64"},
      {SYS_ftruncate, "ftruncate"}, {SYS_fsync, "fsync"},     {SYS_fchmod, "fchmod"},
      {SYS_fchown, "fchown"},       {SYS_linkat, "linkat"},   {SYS_renameat2, "renameat2"},
      {SYS_unlinkat, "unlinkat"},   {SYS_mkdirat, "mkdirat"}, {SYS_getdents64, "getdents64"},
#ifdef SYS_rename
      {SYS_rename, "rename"},       {SYS_unlink, "unlink"},   {SYS_mkdir, "mkdir"},
#endif
      {SYS_renameat, "renameat"}};
  return calls;
}

// Returns the name of a system call that changes files, or null for other calls.
const char* change(const __ptrace_syscall_info& info) {
  const auto found = calls_on_files().find(info.entry.nr);
  if (found == calls_on_files().end()) return nullptr;
  const bool only_opens = info.entry.nr == SYS_openat && (info.entry.args[2] & O_CREAT) == 0;
  return only_opens ? nullptr : found->second;
}

[[noreturn]] void fail(const char* what) { throw std::runtime_error(what); }

// Calls enter() with the name of each file call that the child is about to make, until enter() returns false.
// Returns true if the child was killed then.
bool trace(const std::function<void()>& body, const std::function<bool(const char*)>& enter) {
  const pid_t child = fork();
  if (child < 0) fail("no child can be forked");
  if (child == 0) {
    alarm(60);
    if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) _exit(2);
    raise(SIGSTOP);
    try {
      body();
    } catch (...) {
      _exit(1);
    }
    _exit(0);
  }
  int status = 0;
  while (waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
    __ptrace_syscall_info info{};
    const int stopped_by = WSTOPSIG(status);
    if (stopped_by == SIGSTOP) ptrace(PTRACE_SETOPTIONS, child, nullptr, PTRACE_O_TRACESYSGOOD);
    const bool in_call =
        stopped_by == kInCall && ptrace(PTRACE_GET_SYSCALL_INFO, child, sizeof info, &info) > 0;
    const char* const name = in_call && info.op == PTRACE_SYSCALL_INFO_ENTRY ? change(info) : nullptr;
    if (name && !enter(name)) {
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      return true;
    }
    const int signal = stopped_by == kInCall || stopped_by == SIGSTOP ? 0 : stopped_by;
    ptrace(PTRACE_SYSCALL, child, nullptr, signal);
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) == 2) fail("the child cannot be traced");
  if (WEXITSTATUS(status) != 0) fail("the child ended with an exception");
  return false;
}

}  // namespace

bool is_killed_at(int call, const std::function<void()>& body) {
  return trace(body, [&](const char*) { return call-- > 0; });
}

std::vector<std::string> file_calls(const std::function<void()>& body) {
  std::vector<std::string> calls;
  trace(body, [&](const char* name) {
    calls.emplace_back(name);
    return true;
  });
  return calls;
}

void kill_at_random(unsigned seed, const std::function<void()>& body) {
  int ends[2];
  if (pipe(ends) != 0) fail("no pipe can be made");
  const pid_t child = fork();
  if (child < 0) fail("no child can be forked");
  if (child == 0) {
    alarm(60);
    try {
      while (write(ends[1], "b", 1) == 1) body();
    } catch (...) {
    }
    _exit(1);
  }
  char begun = 0;
  std::mt19937 random(seed);
  // The kill comes after one or two rounds and a random delay, which counts instructions and not time.
  for (unsigned rounds = 1 + random() % 2; rounds > 0; --rounds)
    if (read(ends[0], &begun, 1) != 1) fail("the child wrote nothing");
  const unsigned moment = random() % 1000000;
  for (std::atomic<unsigned> i = 0; i < moment;) ++i;
  kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  close(ends[0]);
  close(ends[1]);
  if (!WIFSIGNALED(status)) fail("the child ended with an exception");
}

int kills() {
  const char* const asked = std::getenv("EBB_TEST_KILLS");
  return asked ? std::atoi(asked) : 4;
}

}  // namespace support
