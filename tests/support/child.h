// Forked child processes, for actions that a test could not undo, and children that are killed during writes.
#pragma once

#include <malloc.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <string>
#include <vector>

namespace support {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
// ThreadSanitizer ends children that start threads, and AddressSanitizer ends processes with a memory limit.
constexpr bool kChildrenRun = false;
#else
constexpr bool kChildrenRun = true;
#endif

/// Runs body() in a forked child and returns how it ended: 0 if body() returned true. A signal ends a child
/// that hangs.
template <class Body>
int status_of_child(Body&& body) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    bool good = false;
    try {
      good = body();
    } catch (...) {
    }
    _exit(good ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

/// Limits the memory of this process to its current size and `more` bytes.
inline bool limit_memory(std::size_t more) {
  std::ifstream statm("/proc/self/statm");
  rlim_t pages = 0;
  statm >> pages;
  const rlim_t bytes = pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + more;
  const rlimit limit{bytes, bytes};
  return setrlimit(RLIMIT_AS, &limit) == 0;
}

/// Returns kilobytes of /proc/self/status: "VmRSS" is the resident memory, "VmHWM" its peak.
inline std::size_t kilobytes_of(const std::string& what) {
  std::ifstream status("/proc/self/status");
  std::size_t kilobytes = 0;
  for (std::string word; status >> word;)
    if (word == what + ":" && status >> kilobytes) break;
  return kilobytes;
}

/// Returns whether body() returns true in a child whose memory grows by at most `bytes`, including memory
/// that this process has freed and cached.
template <class Body>
bool takes_at_most(std::size_t bytes, Body&& body) {
  if (!kChildrenRun) return true;
  malloc_trim(0);  // otherwise the child could use the free memory of this process
  return status_of_child([&] {
           const std::size_t before = kilobytes_of("VmRSS");
           return limit_memory(2 * bytes) && body() && kilobytes_of("VmHWM") - before <= bytes / 1024;
         }) == 0;
}

// Child processes that are killed during their writes.

/// Runs body() in a forked child and kills it at the start of system call number `call`, from 0 on, among
/// those that change files (open, write, rename and the like). Returns false if the child ends before. Throws
/// std::runtime_error if the child cannot be traced or ends with an exception.
bool is_killed_at(int call, const std::function<void()>& body);

/// Returns the names of the system calls on files and folders that body() makes in a forked child.
std::vector<std::string> file_calls(const std::function<void()>& body);

/// Runs body() repeatedly in a forked child, and kills the child at a random moment that `seed` determines.
void kill_at_random(unsigned seed, const std::function<void()>& body);

/// Returns how often tests kill at random: EBB_TEST_KILLS, or a few times by default.
int kills();

}  // namespace support
