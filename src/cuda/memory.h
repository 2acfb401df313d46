// The allocators of the devices, for the other files of src/cuda.
#pragma once

#include "core/memory_snapshot.h"
#include "cuda/async_allocator.h"
#include "cuda/caching_allocator.h"

#include <cstdint>
#include <memory>
#include <string_view>

namespace ebb::cuda {

/// Returns the device's allocator; throws if there is no such device.
CachingAllocator& allocator_of(Device device);
AsyncAllocator& async_allocator_of(Device device);
/// Returns whether memory outside of captures comes from the async allocator.
bool uses_async_allocator();
/// Creates the allocator for the graphs of a pool. The device's statistics include its memory.
std::unique_ptr<CachingAllocator> make_graph_allocator(Device device, std::uint64_t pool);

void set_memory_fraction(Device device, double fraction);
double memory_fraction(Device device);
ebb::detail::MemorySnapshot take_memory_snapshot();
void start_memory_history(std::size_t max_entries);

}  // namespace ebb::cuda
