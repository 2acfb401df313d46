// Checks of ranges of device memory.
#include "cuda/ptx/runtime/memory_checks.h"

#include <algorithm>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "cuda/emu/runtime/state.h"
#include "cuda/ptx/runtime/session.h"

namespace ebb::ptx {
namespace {

void report_range(const char* who, std::uint64_t first, std::size_t bytes, const char* fault,
                  std::uint64_t at) {
  char sentence[256];
  std::snprintf(sentence, sizeof(sentence),
                "%s of %zu bytes from 0x%" PRIx64 " on %s, from byte %" PRIu64 " on", who, bytes, first,
                fault, at - first);
  report(sentence);
}

// The first byte behind the allocations that follow each other from `first` on, as mappings of virtual memory
// do; at most `last`. With `written` it also ends at the first byte that nobody wrote.
std::uint64_t end_of_good(std::uint64_t first, std::uint64_t last, bool written) {
  while (first < last) {
    const Allocation* const a = global_memory().around(first);
    if (!a) return first;
    const std::uint64_t end = std::min(last, a->last);
    if (written && a->written) {
      const unsigned char* const from = a->written.get() + (first - a->first);
      if (const void* const hole = std::memchr(from, 0, end - first))
        return first + static_cast<std::uint64_t>(static_cast<const unsigned char*>(hole) - from);
    }
    first = end;
  }
  return last;
}

}  // namespace

void check_inside(const char* who, const void* first, std::size_t bytes) {
  if (bytes == 0 || !emu::is_device_memory(first)) return;
  const auto from = reinterpret_cast<std::uint64_t>(first);
  const std::uint64_t end = end_of_good(from, from + bytes, false);
  if (end < from + bytes) report_range(who, from, bytes, "touches what lies outside of allocations", end);
}

void check_written(const char* who, const void* first, std::size_t bytes) {
  if (bytes == 0 || !emu::is_device_memory(first)) return;
  check_inside(who, first, bytes);
  const auto from = reinterpret_cast<std::uint64_t>(first);
  const std::uint64_t end = end_of_good(from, from + bytes, true);
  if (end < from + bytes) report_range(who, from, bytes, "reads what nobody wrote", end);
}

}  // namespace ebb::ptx
