// The memory of a captured graph, and what its kernels read there of the generators.
#pragma once

#include <array>
#include <memory>

#include "cuda/caching_allocator.h"
#include "cuda/runtime.h"

namespace ebb::cuda {

struct GraphDraws;

/// Lives from the start of a capture until the graph is reset.
class GraphMemory {
 public:
  GraphMemory() = default;
  GraphMemory(const GraphMemory&) = delete;
  ~GraphMemory();

  CachingAllocator& on(Device device);

  /// The draws that the capture makes from each device's default generator.
  std::array<std::shared_ptr<GraphDraws>, kMaxDevices> draws;

 private:
  std::array<std::unique_ptr<CachingAllocator>, kMaxDevices> allocators_;
};

}  // namespace ebb::cuda
