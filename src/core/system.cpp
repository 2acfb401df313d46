// Resources of the process: pages from mmap, the limits of its control groups (cgroups), and the default
// number of threads.
#include "core/system.h"

#include <ebb/core/environment.h>

#include "core/thread_pool.h"

#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>
#include <utility>
#include <vector>

namespace ebb::detail {
namespace {

bool lists(const std::string& text, const std::string& word) {
  std::istringstream items(text);
  for (std::string item; std::getline(items, item, ',');)
    if (item == word) return true;
  return false;
}

// Returns the process's group in the hierarchy of `controller`, or in the single hierarchy of version 2.
// Lines are "<id>:<controllers>:<path>"; version 2 has id 0 and no controllers.
std::optional<std::string> group_path(const std::string& root, const std::string& controller, int version) {
  std::ifstream file(root + "/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (version == 1 ? lists(controllers, controller) : controllers.empty() && line.starts_with("0:"))
      return line.substr(second + 1);
  }
  return std::nullopt;
}

// A line of mountinfo that mounts a cgroup hierarchy: the mounted group, and the mount point.
struct Mount {
  std::string group;
  std::string at;
  int version;
};

std::optional<Mount> read_mount(const std::string& line, const std::string& controller) {
  // "<id> <parent> <device> <group> <at> <options> ... - <type> <source> <super options>"
  const std::size_t dash = line.find(" - ");
  if (dash == std::string::npos) return std::nullopt;
  std::istringstream before(line), after(line.substr(dash + 3));
  std::string skip, type, options;
  Mount mount;
  before >> skip >> skip >> skip >> mount.group >> mount.at;
  after >> type >> skip >> options;
  mount.version = type == "cgroup2" ? 2 : 1;
  if (type != "cgroup2" && !(type == "cgroup" && lists(options, controller))) return std::nullopt;
  return mount;
}

// Returns the group's path relative to the mount. If the mount does not contain the group (in a container),
// returns the mount itself.
std::string below_mount(const std::string& path, const std::string& group) {
  if (group == "/") return path == "/" || !path.starts_with("/") || path.starts_with("/..") ? "" : path;
  return path.starts_with(group + "/") ? path.substr(group.size()) : "";
}

}  // namespace

std::vector<CgroupFolder> cgroup_folders(const std::string& controller, const std::string& root) {
  std::vector<CgroupFolder> folders;
  std::ifstream file(root + "/proc/self/mountinfo");
  for (std::string line; std::getline(file, line);) {
    const std::optional<Mount> mount = read_mount(line, controller);
    if (!mount) continue;
    const std::optional<std::string> path = group_path(root, controller, mount->version);
    if (!path) continue;
    for (std::string below = below_mount(*path, mount->group); !below.empty();
         below.resize(below.find_last_of('/')))
      folders.push_back({root + mount->at + below, mount->version});
    folders.push_back({root + mount->at, mount->version});
  }
  return folders;
}

std::vector<std::int64_t> cgroup_numbers(const CgroupFolder& folder, const std::string& file) {
  std::ifstream in(folder.path + "/" + file);
  std::vector<std::int64_t> numbers;
  for (std::int64_t number; in >> number;) numbers.push_back(number);
  return numbers;
}

std::optional<int> cgroup_cpus(const std::string& root) {
  std::optional<int> least;
  for (const CgroupFolder& folder : cgroup_folders("cpu", root)) {
    std::vector<std::int64_t> quota_period;
    if (folder.version == 2) {
      quota_period = cgroup_numbers(folder, "cpu.max");
    } else {
      quota_period = cgroup_numbers(folder, "cpu.cfs_quota_us");
      for (const std::int64_t period : cgroup_numbers(folder, "cpu.cfs_period_us"))
        quota_period.push_back(period);
    }
    if (quota_period.size() != 2 || quota_period[0] <= 0 || quota_period[1] <= 0) continue;
    const std::int64_t cpus = quota_period[0] / quota_period[1] + (quota_period[0] % quota_period[1] != 0);
    least = static_cast<int>(std::min<std::int64_t>(cpus, least.value_or(1 << 20)));
  }
  return least;
}

std::optional<std::int64_t> cgroup_memory(const std::string& root) {
  std::optional<std::int64_t> least;
  for (const CgroupFolder& folder : cgroup_folders("memory", root))
    for (const std::int64_t bytes :
         cgroup_numbers(folder, folder.version == 2 ? "memory.max" : "memory.limit_in_bytes"))
      if (bytes > 0) least = std::min(bytes, least.value_or(bytes));
  return least;
}

void* map_pages(std::size_t bytes, std::size_t alignment) noexcept {
  const std::size_t spare = alignment - kPage;
  void* mapped = ::mmap(nullptr, bytes + spare, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  char* const begin = static_cast<char*>(mapped);
  const std::size_t before = -reinterpret_cast<std::uintptr_t>(begin) & (alignment - 1);
  if (before) unmap_pages(begin, before);
  if (before < spare) unmap_pages(begin + before + bytes, spare - before);
#if defined(MADV_HUGEPAGE)
  if (alignment >= kHugePage) ::madvise(begin + before, bytes, MADV_HUGEPAGE);
#endif
  return begin + before;
}

void unmap_pages(void* pages, std::size_t bytes) noexcept { ::munmap(pages, bytes); }

std::size_t memory_limit() {
  static const std::size_t limit = [] {
    const auto machine = static_cast<std::int64_t>(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGESIZE);
    return static_cast<std::size_t>(std::min(machine, cgroup_memory().value_or(machine)));
  }();
  return limit;
}

}  // namespace ebb::detail

namespace ebb::cpu::detail {
namespace {

// Returns the number of CPUs that the calling thread may run on. Tries larger and larger masks, because a
// machine may have more CPUs than one cpu_set_t can represent.
int affine_cpus() {
  for (std::size_t sets = 1; sets <= 64; sets *= 2) {
    std::vector<cpu_set_t> mask(sets);
    if (sched_getaffinity(0, sets * sizeof(cpu_set_t), mask.data()) == 0)
      return CPU_COUNT_S(sets * sizeof(cpu_set_t), mask.data());
  }
  return static_cast<int>(std::thread::hardware_concurrency());
}

}  // namespace

int available_cpus(const std::string& root) {
  return std::clamp(std::min(affine_cpus(), ebb::detail::cgroup_cpus(root).value_or(kMaxThreads)), 1,
                    kMaxThreads);
}

int default_threads(const std::string& root) {
  for (const char* name : {"EBB_NUM_THREADS", "OMP_NUM_THREADS"})
    if (const char* value = ebb::detail::environment(name))
      if (const int n = std::atoi(value); n > 0) return std::min(n, kMaxThreads);
  return available_cpus(root);
}

}  // namespace ebb::cpu::detail
