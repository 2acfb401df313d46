// Memory that is freed while streams may still be using it waits here for events on those streams.
#pragma once

#include <cuda_runtime.h>
#include <ebb/core/device.h>

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

/// Adds a use unless it is known.
void add_use(StreamUses& uses, StreamUse use);

/// An event of the device, without timing; recycled, for making one costs more than recording it.
cudaEvent_t take_event(Device device);
void give_event(Device device, cudaEvent_t event) noexcept;

/// A point that a stream will reach.
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

  /// Whether the stream is past it; with `wait`, after waiting for it. No if that cannot be told.
  bool passed(bool wait) noexcept;

 private:
  void record() noexcept;

  StreamUse use_;
  cudaEvent_t event_ = nullptr;  // null: the stream was being captured, or the call failed; tried again
};

template <class Block>
class WaitingBlocks {
 public:
  void add(Block* block, const StreamUses& uses) {
    Item item{block, {}};
    for (const StreamUse& use : uses) item.marks.emplace_back(use);
    items_.push_back(std::move(item));
  }
  bool empty() const { return items_.empty(); }
  /// Calls done(block) for those that no stream uses any more.
  template <class F>
  void collect(bool wait, const F& done) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < items_.size(); ++i) {
      std::vector<StreamMark>& marks = items_[i].marks;
      while (!marks.empty() && marks.back().passed(wait)) marks.pop_back();
      if (marks.empty()) {
        done(items_[i].block);
      } else {
        if (kept != i) items_[kept] = std::move(items_[i]);
        ++kept;
      }
    }
    items_.resize(kept);
  }

 private:
  struct Item {
    Block* block = nullptr;
    std::vector<StreamMark> marks;
  };
  std::vector<Item> items_;
};

}  // namespace ebb::cuda
