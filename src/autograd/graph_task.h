// One backward pass over the graph, and its streams. Each node runs on the stream of its forward op. Events
// order the tensors that pass between streams (PyTorch's stream semantics of backward passes).
#pragma once

#include <ebb/autograd/node.h>

#include "core/backend.h"

#include <unordered_map>
#include <vector>

namespace ebb::autograd {

/// Synchronizes the streams of a device during a pass. Does nothing in programs that use only the default
/// streams. The caller's streams are the streams that are current when the pass starts; gradients of leaves
/// are accumulated on them.
class StreamOrder {
 public:
  StreamOrder() : active_(detail::side_streams_used()) {}
  StreamOrder(const StreamOrder&) = delete;

  bool active() const { return active_; }
  /// Returns whether a gradient has passed between streams. If so, another stream may still be reading its
  /// memory.
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

  /// Makes the stream of `to` wait for `grad`, which is ready on the current stream.
  void hand_over(const Variable& grad, const Node& to);
  /// Makes the caller's stream wait for `grad`, which is ready on the current stream.
  void hand_back(const Variable& grad);
  /// Makes the caller's streams wait for all other streams of the pass.
  void finish();

 private:
  struct Used {
    Device device;
    void* caller;                   // the caller's stream of the device
    SmallVector<void*, 4> streams;  // the other streams that nodes ran on
  };
  void* stream_of(const Node& node, Device device);
  void* caller_of(Device device);
  void pass(const Variable& grad, void* to);
  void set(Device device, void* stream) { detail::backend(kCUDA).set_stream(device, stream); }

  bool active_;
  bool crossed_ = false;
  SmallVector<Used, 1> used_;
};

/// Options of a backward pass; see backward() and grad().
struct BackwardOptions {
  bool keep_graph = false;    // do not release the saved tensors
  bool create_graph = false;  // record the computation of the gradients
};

/// Reverse-mode differentiation from roots to leaves. The task counts the gradients that each node below the
/// roots waits for. It then runs the nodes that wait for no more gradients; of these, the one that was
/// recorded last runs first. A slot in each node, which the task claims by compare-and-swap, contains the
/// index of the node's state. If another pass has claimed the slot, the index is stored in a map.
class GraphTask {
 public:
  explicit GraphTask(BackwardOptions options) : options_(options) {}
  ~GraphTask();
  GraphTask(const GraphTask&) = delete;
  GraphTask& operator=(const GraphTask&) = delete;

  /// Adds a root and its seed.
  void add_root(const Edge& edge, Variable seed);
  /// Restricts the pass to the paths that lead to targets, and captures the gradient of each target, in the
  /// order of the calls. If `run` is true, the pass also runs the target's node (an accumulator). Otherwise
  /// the pass stops at the node, unless the node leads to another target.
  void add_target(const Edge& edge, bool run);
  /// Runs the pass and returns the captured gradients.
  variable_list run();

 private:
  struct State {
    using Relocatable = State;  // see SmallVector
    explicit State(Node* n) : node(n) {}
    Node* node;
    std::uint32_t waits_for = 0;
    bool needed = true;
    bool target = false;
    GradList grads;  // by input; an undefined entry, or no entry, means that no gradient has arrived
  };
  struct Target {
    Edge edge;
    bool run;
  };
  using Index = std::uint32_t;
  struct Ready {
    std::uint64_t sequence_nr;
    Index index;
    bool operator<(const Ready& other) const { return sequence_nr < other.sequence_nr; }
  };

  Index index_of(Node* node);  // adds the node if it is new
  bool find(Node* node, Index& index) const;
  void find_nodes();
  void mark_needed();
  void evaluate(Index index);
  void capture(const Node& node, const GradList& grads);
  std::uint64_t skipped_inputs_of(const Node& node) const;
  GradList call(Node& node, GradList&& grads);
  void deliver(const Node& from, std::size_t i, const Edge& edge, Variable grad);
  void accumulate(State& state, std::uint32_t input_nr, Variable grad);
  void push_ready(Index index);

  BackwardOptions options_;
  SmallVector<State, 8> states_;
  std::unordered_map<Node*, Index> contended_;  // nodes whose slot belongs to another pass
  std::vector<Ready> ready_;
  std::vector<Target> targets_;
  std::vector<Ref<Node>> roots_;  // keep the graph alive: hooks may drop the caller's tensors
  variable_list captured_;
  StreamOrder streams_;
};

}  // namespace ebb::autograd
