// The allocators of the devices, for the other files of src/cuda.
#pragma once

#include "core/memory_snapshot.h"
#include "cuda/async_allocator.h"
#include "cuda/caching_allocator.h"

#include <cstdint>
#include <memory>
#include <string_view>

namespace ebb::cuda {

/// Each device's; throw when there is no such device.
CachingAllocator& allocator_of(Device device);
AsyncAllocator& async_allocator_of(Device device);
/// Whether what is not captured comes from the second.
bool uses_async_allocator();
/// One for the graphs of a pool, which is counted with the device's own.
std::unique_ptr<CachingAllocator> make_graph_allocator(Device device, std::uint64_t pool);

void set_memory_fraction(Device device, double fraction);
double memory_fraction(Device device);
ebb::detail::MemorySnapshot take_memory_snapshot();
void start_memory_history(std::size_t max_entries);

}  // namespace ebb::cuda
