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

/// Maps fresh pages of zeros, aligned to `alignment` (a power of two of at least kPage); returns null if the
/// system refuses. Both sizes are multiples of kPage. Memory aligned to kHugePage requests huge pages, which
/// cost one page fault instead of 512.
void* map_pages(std::size_t bytes, std::size_t alignment = kPage) noexcept;
void unmap_pages(void* pages, std::size_t bytes) noexcept;

/// Returns the bytes that this process may use: the machine's memory, or the limit of a control group if that
/// is smaller. The value is determined only once.
std::size_t memory_limit();

/// The folder of one control group. Version 1 has a hierarchy per controller, version 2 has a single one.
struct CgroupFolder {
  std::string path;
  int version;
};

/// Returns the folders that may contain a limit of `controller` ("cpu", "memory") for this process: its own
/// group's first, then its parents' up to the mount; empty if control groups are not mounted. The limits of
/// all these groups apply, so the smallest limit is effective. `root` is a prefix of every path, for tests.
std::vector<CgroupFolder> cgroup_folders(const std::string& controller, const std::string& root = "");

/// Returns the numbers at the start of the file; empty if there is no such file, or if it begins with "max".
std::vector<std::int64_t> cgroup_numbers(const CgroupFolder& folder, const std::string& file);

/// Returns the number of CPUs that the quotas allow this process, rounded up; empty without a quota.
std::optional<int> cgroup_cpus(const std::string& root = "");

/// Returns the bytes of memory that this process's group may use; empty without a limit.
std::optional<std::int64_t> cgroup_memory(const std::string& root = "");

}  // namespace ebb::detail
