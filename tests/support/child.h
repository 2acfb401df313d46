// Forked children, in which tests do what they could not take back.
#pragma once

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

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

}  // namespace support
