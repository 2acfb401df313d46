// Resources that the system gives this process: pages of memory, and the limits of its control groups.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ebb::detail {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kHugePage = std::size_t{1} << 21;

/// Fresh pages of zeros, aligned to `alignment` (a power of two of at least kPage); null when refused. Both
/// sizes are multiples of kPage. Pages aligned to kHugePage are asked for as huge ones, of which 512 cost one
/// page fault.
void* map_pages(std::size_t bytes, std::size_t alignment = kPage) noexcept;
void unmap_pages(void* pages, std::size_t bytes) noexcept;

/// Bytes this process may use: the machine's memory, or less where a control group says so. Read once.
std::size_t memory_limit();

/// The folder of one control group. Version 1 has a tree for each controller, version 2 one for all.
struct CgroupFolder {
  std::string path;
  int version;
};

/// The folders that hold a limit of `controller` ("cpu", "memory") for this process: its own group's, then
/// those of the groups around it, up to the mount; none where control groups are not mounted. A limit on any
/// of them holds, so the smallest counts. `root` is put before every path, for tests.
std::vector<CgroupFolder> cgroup_folders(const std::string& controller, const std::string& root = "");

/// The file's first numbers; empty if there is no such file, or if it says "max".
std::vector<std::int64_t> cgroup_numbers(const CgroupFolder& folder, const std::string& file);

/// How many CPUs' time the quotas leave this process, rounded up; nothing without a quota.
std::optional<int> cgroup_cpus(const std::string& root = "");

/// How many bytes of memory this process and those beside it may use; nothing without a limit.
std::optional<std::int64_t> cgroup_memory(const std::string& root = "");

}  // namespace ebb::detail
