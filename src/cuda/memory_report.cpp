// Limits of what the allocators take, and what they say about themselves.
#include <ebb/core/error.h>

#include "cuda/memory.h"
#include "cuda/runtime.h"

namespace ebb::cuda {
namespace {

void limit(MemoryFigures& figures, Device device, double fraction) {
  const auto total = static_cast<double>(properties_of(static_cast<int>(device.index())).totalGlobalMem);
  figures.fraction = fraction;
  figures.limit = fraction < 1 ? static_cast<std::size_t>(fraction * total) : MemoryFigures::kNoLimit;
}

Device device_at(int index) { return Device(kCUDA, index); }

}  // namespace

// Graphs take their memory from the caching allocator in any case.
void set_memory_fraction(Device device, double fraction) {
  limit(allocator_of(device).figures(), device, fraction);
  if (uses_async_allocator()) limit(async_allocator_of(device).figures(), device, fraction);
}
double memory_fraction(Device device) { return allocator_of(device).figures().fraction; }

ebb::detail::MemorySnapshot take_memory_snapshot() {
  EBB_CHECK(
      !uses_async_allocator(),
      "cuda::memory_snapshot: with EBB_CUDA_ALLOCATOR=async the driver keeps the memory, and tells nobody "
      "how. Leave the variable out, or ask cuda::memory_stats().");
  ebb::detail::MemorySnapshot snapshot;
  for (int i = 0; i < visible_devices(); ++i) {
    CachingAllocator& allocator = allocator_of(device_at(i));
    MemoryFigures& figures = allocator.figures();
    figures.trace.add(MemoryTrace::Action::snapshot, nullptr, 0, nullptr);
    allocator.describe(snapshot);
    snapshot.events.push_back(figures.trace.events());
    snapshot.expandable_segments |= allocator.is_expandable();
    snapshot.fractions.push_back(figures.fraction);
  }
  return snapshot;
}

void start_memory_history(std::size_t max_entries) {
  for (int i = 0; i < visible_devices(); ++i) allocator_of(device_at(i)).figures().trace.start(max_entries);
}

}  // namespace ebb::cuda
