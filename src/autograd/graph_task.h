// One walk over the graph.
#pragma once

#include <ebb/autograd/node.h>

#include "autograd/stream_order.h"

#include <unordered_map>
#include <vector>

namespace ebb::autograd {

/// What a walk is to do; see backward() and grad().
struct WalkOptions {
  bool keep_graph = false;    // leave the saved tensors in place
  bool create_graph = false;  // record the gradients' own computation
};

/// Reverse-mode differentiation from roots to leaves. Finds the nodes below the roots and how many gradients
/// each waits for, then runs those that wait for none, the last recorded first. Its own bookkeeping stands in
/// a slot that the nodes point to, claimed by compare-and-swap: no map is searched unless walks overlap on
/// the same nodes.
class GraphTask {
 public:
  explicit GraphTask(WalkOptions options) : options_(options) {}
  ~GraphTask();
  GraphTask(const GraphTask&) = delete;
  GraphTask& operator=(const GraphTask&) = delete;

  /// Seeds one root.
  void add_root(const Edge& edge, Variable seed);
  /// Restricts the walk to what leads to the targets, and captures the gradient that reaches each, in order.
  /// A node with `run` is run too (it accumulates); otherwise the walk stops there unless another target lies
  /// beyond.
  void add_target(const Edge& edge, bool run);
  /// Walks; returns the captured gradients.
  variable_list run();

 private:
  struct State {
    explicit State(Node* n) : node(n) {}
    Node* node;
    std::uint32_t waits_for = 0;
    bool needed = true;
    bool target = false;
    GradList grads;  // by input; what is missing at the end has not come
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
  void hand_out(const Node& node, const GradList& grads);
  std::uint64_t unwanted_of(const Node& node) const;
  GradList call(Node& node, GradList grads);
  void deliver(const Node& from, std::size_t i, const Edge& edge, Variable grad);
  void accumulate(State& state, std::uint32_t input_nr, Variable grad);
  void push_ready(Index index);

  WalkOptions options_;
  std::vector<State> states_;
  std::unordered_map<Node*, Index> contended_;  // nodes whose slot another walk holds
  std::vector<Ready> ready_;
  std::vector<Target> targets_;
  std::vector<Ref<Node>> roots_;  // keep the graph alive: hooks may drop the caller's tensors
  variable_list captured_;
  StreamOrder streams_;
};

}  // namespace ebb::autograd
