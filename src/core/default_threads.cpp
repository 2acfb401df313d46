// How many threads a process starts with.
#include <ebb/core/environment.h>

#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <thread>
#include <vector>

#include "core/cgroup.h"
#include "core/thread_pool.h"

namespace ebb::cpu::detail {
namespace {

// The CPUs that the calling thread may run on. Machines may have more than a cpu_set_t counts.
int affine_cpus() {
  for (std::size_t sets = 1; sets <= 64; sets *= 2) {
    std::vector<cpu_set_t> mask(sets);
    if (sched_getaffinity(0, sets * sizeof(cpu_set_t), mask.data()) == 0)
      return CPU_COUNT_S(sets * sizeof(cpu_set_t), mask.data());
  }
  return static_cast<int>(std::thread::hardware_concurrency());
}

}  // namespace

int default_threads(const std::string& root) {
  for (const char* name : {"EBB_NUM_THREADS", "OMP_NUM_THREADS"})
    if (const char* value = ebb::detail::environment(name))
      if (const int n = std::atoi(value); n > 0) return std::min(n, kMaxThreads);
  return std::clamp(std::min(affine_cpus(), ebb::detail::cgroup_cpus(root).value_or(kMaxThreads)), 1,
                    kMaxThreads);
}

}  // namespace ebb::cpu::detail
