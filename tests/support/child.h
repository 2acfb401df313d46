// Forked children, in which tests do what they could not take back, and which are killed as they write.
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
// ThreadSanitizer ends children that start threads; AddressSanitizer ends what meets a limit of memory.
constexpr bool kChildrenRun = false;
#else
constexpr bool kChildrenRun = true;
#endif

/// How a forked child ends that returns body(): 0 for true. One that hangs is ended by a signal.
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

/// From now on the system gives this process so many bytes more, and no others.
inline bool limit_memory(std::size_t more) {
  std::ifstream statm("/proc/self/statm");
  rlim_t pages = 0;
  statm >> pages;
  const rlim_t bytes = pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + more;
  const rlimit limit{bytes, bytes};
  return setrlimit(RLIMIT_AS, &limit) == 0;
}

/// Kilobytes that /proc/self/status says of "VmRSS", what is in memory, or "VmHWM", the most that was.
inline std::size_t kilobytes_of(const std::string& what) {
  std::ifstream status("/proc/self/status");
  std::size_t kilobytes = 0;
  for (std::string word; status >> word;)
    if (word == what + ":" && status >> kilobytes) break;
  return kilobytes;
}

/// Whether body() returns true in a child whose memory grows by at most so many bytes, those included that
/// this process has freed and kept.
template <class Body>
bool takes_at_most(std::size_t bytes, Body&& body) {
  if (!kChildrenRun) return true;
  malloc_trim(0);  // or what is free here is more for the child to fill
  return status_of_child([&] {
           const std::size_t before = kilobytes_of("VmRSS");
           return limit_memory(2 * bytes) && body() && kilobytes_of("VmHWM") - before <= bytes / 1024;
         }) == 0;
}

// Children that are killed in the middle of what they write.

/// Runs body() in a forked child and kills it as it enters the system call number `call`, from 0 on, of those
/// that change files (open, write, rename and the like). False where it ends before, with all done. Throws
/// std::runtime_error where the child cannot be traced, or ends with an exception.
bool is_killed_at(int call, const std::function<void()>& body);

/// The names of the system calls on files and folders that body() makes in a forked child.
std::vector<std::string> file_calls(const std::function<void()>& body);

/// Lets body() run over and over in a forked child, and kills that at a moment drawn by `seed`.
void kill_at_random(unsigned seed, const std::function<void()>& body);

/// How often tests kill at random: EBB_TEST_KILLS, else a few times.
int kills();

}  // namespace support
