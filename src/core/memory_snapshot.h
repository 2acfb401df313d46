// The state and the history of the device allocators: see cuda::memory_snapshot.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace ebb::detail {

struct MemorySnapshot {
  struct Block {
    enum class State { allocated, pending_free, inactive };
    std::uint64_t address = 0;
    std::size_t bytes = 0;
    std::size_t requested = 0;  // the requested part of the bytes; 0 if inactive
    State state = State::inactive;
  };
  struct Segment {
    int device = 0;
    std::uint64_t stream = 0;
    bool small = false;
    bool expandable = false;
    std::uint64_t pool = 0;  // the pool of graphs; 0: the device's own pool
    std::vector<Block> blocks;
  };
  enum class Action {
    alloc,
    free_requested,
    free_completed,
    segment_alloc,
    segment_free,
    segment_map,
    segment_unmap,
    oom,
    snapshot
  };
  struct Event {
    Action action;
    std::uint64_t address = 0;  // for an oom event: the free bytes of the device
    std::size_t bytes = 0;
    std::uint64_t stream = 0;
    std::int64_t microseconds = 0;  // since 1970
  };

  std::vector<Segment> segments;
  std::vector<std::vector<Event>> events;  // one list per device
  bool expandable_segments = false;
  std::vector<double> fractions;  // the fraction of each device's memory that ebb may use
};

/// Returns the JSON that PyTorch's memory viewer reads.
std::string to_json(const MemorySnapshot& snapshot);

}  // namespace ebb::detail
