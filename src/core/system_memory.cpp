// Pages from mmap.
#include "core/system_memory.h"

#include "core/cgroup.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

namespace ebb::detail {

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
