// The streams of a backward pass. Each node runs on the stream of its forward op, and events order the
// tensors that pass between streams (PyTorch's stream semantics of backward passes).
#pragma once

#include <ebb/autograd/node.h>

#include "core/backend.h"

namespace ebb::autograd {

/// Does nothing in programs that use only the default streams. The caller's streams are those that are
/// current when the pass starts; leaves accumulate on them.
class StreamOrder {
 public:
  StreamOrder() : active_(detail::side_streams_used()) {}
  StreamOrder(const StreamOrder&) = delete;

  bool active() const { return active_; }
  /// Whether a gradient has passed between streams. Then another stream may still be reading memory that it
  /// shares.
  bool crossed() const { return crossed_; }

  /// Makes a node's stream current for a scope.
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

  /// `grad` is ready on the current stream; makes the stream of `to` wait for it.
  void hand_over(const Variable& grad, const Node& to);
  /// The same for the caller's stream.
  void hand_back(const Variable& grad);
  /// Makes the caller's streams wait for all others.
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
