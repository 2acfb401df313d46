// What control groups limit, as the kernel shows it in files.
#include "core/cgroup.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <utility>

namespace ebb::detail {
namespace {

bool lists(const std::string& text, const std::string& word) {
  std::istringstream items(text);
  for (std::string item; std::getline(items, item, ',');)
    if (item == word) return true;
  return false;
}

// The process's group in the tree of `controller`, or for version 2 in the tree of all: lines are
// "<id>:<controllers>:<path>", with id 0 and no controllers for version 2.
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

// One line of mountinfo that mounts such a tree: the group that is mounted, and where.
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

// The group's path below the mount. A group that the mount does not show (a container's view) leaves the
// mount itself.
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

}  // namespace ebb::detail
