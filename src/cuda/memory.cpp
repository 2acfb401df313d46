// Allocation, release and copies of device memory; limits and reports of the allocators.
#include "cuda/memory.h"

#include <ebb/core/error.h>
#include <ebb/core/warning.h>

#include "cuda/allocator_settings.h"
#include "cuda/captured_graph.h"
#include "cuda/pinned.h"
#include "cuda/runtime.h"

namespace ebb::cuda {
namespace {

constexpr MemorySource kDriver = {
    [](void** pointer, std::size_t bytes) { return cudaMalloc(pointer, bytes); },
    [](void* pointer) { return cudaFree(pointer); },
    [](std::size_t* free, std::size_t* total) { return cudaMemGetInfo(free, total); }};

// Returns the device's allocator. The first call creates the allocators of all devices by `make`. They are
// never destroyed, because tensors in static variables are freed last.
template <class Allocator, class Make>
Allocator& one_a_device(Device device, const Make& make) {
  static std::array<Allocator*, kMaxDevices>* const all = [&] {
    auto* made = new std::array<Allocator*, kMaxDevices>{};
    for (int i = 0; i < visible_devices(); ++i) (*made)[static_cast<std::size_t>(i)] = make(Device(kCUDA, i));
    return made;
  }();
  properties_of(device.index());  // throws if there is no such device
  return *(*all)[static_cast<std::size_t>(device.index())];
}
CachingAllocator* make_allocator(Device device) {
  const bool wanted = final_allocator_settings().expandable_segments;
  const bool expandable = wanted && has_virtual_memory(device);
  if (wanted && !expandable)
    warn("expandable_segments: ", device,
         " or its driver has no virtual memory management; its segments keep "
         "a fixed size.");
  return new CachingAllocator(kDriver, device, expandable);
}
// Copies between devices, ordered after the work queued on both streams. Earlier uses of the destination
// finish before the copy, and later work on the source's memory waits for the copy.
void copy_between(void* to, Device to_device, const void* from, Device from_device, std::size_t bytes) {
  const cudaStream_t source = current_stream(from_device), destination = current_stream(to_device);
  allow_peer_access(from_device, to_device);
  order_streams(to_device, destination, from_device, source);
  {
    const DeviceScope scope(from_device);
    check(cudaMemcpyPeerAsync(to, to_device.index(), from, from_device.index(), bytes, source),
          "copy between devices");
  }
  order_streams(from_device, source, to_device, destination);
}

}  // namespace

CachingAllocator& allocator_of(Device device) {
  return one_a_device<CachingAllocator>(device, &make_allocator);
}
AsyncAllocator& async_allocator_of(Device device) {
  return one_a_device<AsyncAllocator>(device, [](Device d) { return new AsyncAllocator(d); });
}
bool uses_async_allocator() {
  static const bool chosen = allocator_settings().async;
  return chosen;
}

std::unique_ptr<CachingAllocator> make_graph_allocator(Device device, std::uint64_t pool) {
  return std::make_unique<CachingAllocator>(kDriver, allocator_of(device), pool);
}

ebb::detail::DeviceBlock allocate(std::size_t bytes, Device device) {
  const DeviceScope scope(device);
  const cudaStream_t stream = stream_of(device);
  GraphMemory* const graph = thread_state().capture;
  MemoryBlock* const block = graph                    ? graph->on(device).allocate(bytes, stream)
                             : uses_async_allocator() ? async_allocator_of(device).allocate(bytes, stream)
                                                      : allocator_of(device).allocate(bytes, stream);
  return {block->data, block->bytes, device, block};
}

ebb::detail::DeviceBlock allocate_pinned(std::size_t bytes) {
  PinnedBlock* const block = pinned_pool().allocate(bytes);
  return {block->data, block->bytes, Device(kCPU), block};
}

void free(ebb::detail::DeviceBlock block) noexcept {
  if (block.device.is_cpu()) return pinned_pool().free(static_cast<PinnedBlock*>(block.context));
  auto* const piece = static_cast<MemoryBlock*>(block.context);
  if (piece->owner) [[likely]]
    piece->owner->free(piece);
  else
    async_allocator_of(block.device).free(piece);
}

void record_use(ebb::detail::DeviceBlock block, Device device, void* stream) {
  const StreamUse use{device, static_cast<cudaStream_t>(stream)};
  if (block.device.is_cpu()) return pinned_pool().record_use(static_cast<PinnedBlock*>(block.context), use);
  auto* const piece = static_cast<MemoryBlock*>(block.context);
  if (piece->owner)
    piece->owner->record_use(piece, use);
  else
    async_allocator_of(block.device).record_use(piece, use);
}

MemoryStats memory_stats_of(Device device) {
  return uses_async_allocator() ? async_allocator_of(device).stats() : allocator_of(device).stats();
}
void reset_peak_of(Device device) {
  (uses_async_allocator() ? async_allocator_of(device).figures() : allocator_of(device).figures())
      .reset_peak();
}
void empty_cache_of(Device device) {
  refuse_in_capture("empty_cache() was called");
  const DeviceScope scope(device);
  wait_for_device(device);  // queued work may still read the memory that is returned
  allocator_of(device).empty_cache();
  if (uses_async_allocator()) async_allocator_of(device).empty_cache();
  pinned_pool().empty_cache();
}

void copy_bytes(void* to, Device to_device, const void* from, Device from_device, std::size_t bytes,
                bool wait) {
  if (to_device.is_cuda() && from_device.is_cuda() && to_device.index() != from_device.index())
    return copy_between(to, to_device, from, from_device, bytes);
  const Device device = to_device.is_cuda() ? to_device : from_device;
  // CPU memory may have been page-locked outside ebb. cudaMemcpyAsync() then returns before the copy, so this
  // function waits, in both directions. The caller may modify the memory afterwards.
  const bool waits = wait && (to_device.is_cpu() || from_device.is_cpu());
  if (wait && to_device.is_cpu())
    refuse_in_capture(
        "a value was read (item(), a copy to the CPU, printing, a shape that depends on values)");
  EBB_CHECK(
      !thread_state().capture || !wait, "cuda::Graph: a tensor of the CPU that is not pinned was copied to ",
      device,
      " while a graph is captured: replays would read memory that may have been freed. Copy it before the "
      "capture, or copy from pinned memory with non_blocking.");
  const DeviceScope scope(device);
  const cudaStream_t stream = current_stream(device);
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream), "copy");
  if (!waits) return;
  check(cudaStreamSynchronize(stream), "a copy between the CPU and the device");
  check_faults(device);
}

void read_back(void* to, Device device, const void* from, std::size_t bytes) {
  copy_bytes(to, Device(kCPU), from, device, bytes, true);
}

namespace {

void limit(MemoryFigures& figures, Device device, double fraction) {
  const auto total = static_cast<double>(properties_of(static_cast<int>(device.index())).totalGlobalMem);
  figures.fraction = fraction;
  figures.limit = fraction < 1 ? static_cast<std::size_t>(fraction * total) : MemoryFigures::kNoLimit;
}

Device device_at(int index) { return Device(kCUDA, index); }

}  // namespace

// Sets the limit of both allocators, because graphs always use the caching allocator.
void set_memory_fraction(Device device, double fraction) {
  limit(allocator_of(device).figures(), device, fraction);
  if (uses_async_allocator()) limit(async_allocator_of(device).figures(), device, fraction);
}
double memory_fraction(Device device) { return allocator_of(device).figures().fraction; }

ebb::detail::MemorySnapshot take_memory_snapshot() {
  EBB_CHECK(
      !uses_async_allocator(),
      "cuda::memory_snapshot: with EBB_CUDA_ALLOCATOR=async the driver manages the memory and provides no "
      "snapshot. Unset the variable, or use cuda::memory_stats().");
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
