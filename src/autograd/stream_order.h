// The streams of a walk: each node runs where its forward op ran, and what passes between two streams is
// ordered by events (PyTorch's stream semantics of backward passes).
#pragma once

#include <ebb/autograd/node.h>

#include "core/backend.h"

namespace ebb::autograd {

/// Nothing at all in programs that never leave the default streams. The caller's streams are those that are
/// current when the walk starts; leaves accumulate there.
class StreamOrder {
 public:
  StreamOrder() : active_(detail::side_streams_used()) {}
  StreamOrder(const StreamOrder&) = delete;

  bool active() const { return active_; }
  /// Whether a gradient has gone from one stream to another: then others may still be reading what it shares
  /// memory with.
  bool crossed() const { return crossed_; }

  /// Makes a node's stream current for a lifetime.
  class Scope {
   public:
    Scope(StreamOrder& order, const Node& node) {
      if (order.active_) [[unlikely]]
        enter(order, node);
    }
    ~Scope() {
      if (order_) [[unlikely]]
        order_->set(device_, previous_);
    }
    Scope(const Scope&) = delete;

   private:
    void enter(StreamOrder& order, const Node& node);
    StreamOrder* order_ = nullptr;  // null: nothing to restore
    Device device_;
    void* previous_ = nullptr;
  };

  /// `grad` is ready on the current stream; `to` may use it on its own from now on.
  void hand_over(const Variable& grad, const Node& to);
  /// The same for the caller.
  void hand_back(const Variable& grad);
  /// The caller's streams wait for all others.
  void finish();

 private:
  struct Used {
    Device device;
    void* caller;                   // the caller's stream of the device
    SmallVector<void*, 4> streams;  // the others that nodes ran on
  };
  void* stream_of(const Node& node, Device device);
  void* caller_of(Device device);
  void pass(const Variable& grad, void* to);
  void set(Device device, void* stream) { detail::backend(kCUDA).set_stream(device, stream); }

  bool active_;
  bool crossed_ = false;
  SmallVector<Used, 1> used_;
};

}  // namespace ebb::autograd
