// Memory that is freed while streams may still use it. The memory waits for events on those streams.
#pragma once

#include <ebb/core/device.h>

#include <cuda_runtime.h>

#include <cstddef>
#include <deque>
#include <list>
#include <memory>
#include <utility>
#include <vector>

namespace ebb::cuda {

struct StreamUse {
  Device device;
  cudaStream_t stream;
  friend bool operator==(const StreamUse& a, const StreamUse& b) {
    return a.device == b.device && a.stream == b.stream;
  }
};
using StreamUses = std::vector<StreamUse>;

/// Adds a use unless it is already in the list.
void add_use(StreamUses& uses, StreamUse use);

/// Returns an event of the device, without timing. Events are reused, because the creation of an event costs
/// more than its recording.
cudaEvent_t take_event(Device device);
void give_event(Device device, cudaEvent_t event) noexcept;

/// A point in a stream's work.
class StreamMark {
 public:
  explicit StreamMark(StreamUse use) noexcept : use_(use) { record(); }
  StreamMark(StreamMark&& other) noexcept : use_(other.use_), event_(std::exchange(other.event_, nullptr)) {}
  StreamMark& operator=(StreamMark&& other) noexcept {
    std::swap(use_, other.use_);
    std::swap(event_, other.event_);
    return *this;
  }
  ~StreamMark();

  /// Returns whether the stream has passed the point. If `wait` is true, first waits until it has. Returns
  /// false if this cannot be determined.
  bool passed(bool wait) noexcept;

 private:
  void record() noexcept;

  StreamUse use_;
  cudaEvent_t event_ = nullptr;  // null if the stream was being captured or a call failed; see passed()
};

/// Blocks that streams may still use. The marks of each stream are in a separate queue. A stream passes its
/// marks in order, so the check of a queue ends at the first mark that the stream has not passed. A check
/// costs one call per stream, plus one for each passed mark.
template <class Block>
class WaitingBlocks {
 public:
  void add(Block* block, const StreamUses& uses) {
    const auto waiting = std::make_shared<Waiting>(Waiting{block, uses.size()});
    for (const StreamUse& use : uses) queue_of(use).marks.push_back({StreamMark(use), waiting});
    count_ += 1;
  }
  bool empty() const { return count_ == 0; }
  /// Calls done(block) for each block that no stream uses any more.
  template <class F>
  void collect(bool wait, const F& done) {
    for (Queue& queue : queues_)
      while (!queue.marks.empty() && queue.marks.front().mark.passed(wait)) {
        const std::shared_ptr<Waiting> waiting = std::move(queue.marks.front().waiting);
        queue.marks.pop_front();
        if (--waiting->streams > 0) continue;
        --count_;
        done(waiting->block);
      }
    std::erase_if(queues_, [](const Queue& queue) { return queue.marks.empty(); });
  }

 private:
  struct Waiting {
    Block* block = nullptr;
    std::size_t streams = 0;  // number of streams that have not passed its mark
  };
  struct Marked {
    StreamMark mark;
    std::shared_ptr<Waiting> waiting;
  };
  struct Queue {
    StreamUse use;
    std::deque<Marked> marks;
  };

  Queue& queue_of(StreamUse use) {
    for (Queue& queue : queues_)
      if (queue.use == use) return queue;
    return queues_.emplace_back(Queue{use, {}});
  }

  std::list<Queue> queues_;
  std::size_t count_ = 0;
};

}  // namespace ebb::cuda
