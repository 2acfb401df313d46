// One backward pass over the graph.
#pragma once

#include <ebb/autograd/node.h>

#include "autograd/stream_order.h"

#include <unordered_map>
#include <vector>

namespace ebb::autograd {

/// Options of a backward pass; see backward() and grad().
struct BackwardOptions {
  bool keep_graph = false;    // do not release the saved tensors
  bool create_graph = false;  // record the computation of the gradients
};

/// Reverse-mode differentiation from roots to leaves. It counts the gradients that each node below the roots
/// waits for. It then runs the nodes that wait for none, the last recorded one first. The state of a node is
/// found through a slot in the node, claimed by compare-and-swap. A map is needed only if several passes run
/// over the same nodes.
class GraphTask {
 public:
  explicit GraphTask(BackwardOptions options) : options_(options) {}
  ~GraphTask();
  GraphTask(const GraphTask&) = delete;
  GraphTask& operator=(const GraphTask&) = delete;

  /// Adds a root and its seed.
  void add_root(const Edge& edge, Variable seed);
  /// Restricts the pass to the paths that lead to targets, and captures the gradient of each target, in the
  /// order of the calls. A target with `run` also runs its node (an accumulator). Otherwise the pass stops at
  /// the node, unless another target is behind it.
  void add_target(const Edge& edge, bool run);
  /// Runs the pass and returns the captured gradients.
  variable_list run();

 private:
  struct State {
    explicit State(Node* n) : node(n) {}
    Node* node;
    std::uint32_t waits_for = 0;
    bool needed = true;
    bool target = false;
    GradList grads;  // by input; those missing at the end are undefined
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
  GradList call(Node& node, GradList grads);
  void deliver(const Node& from, std::size_t i, const Edge& edge, Variable grad);
  void accumulate(State& state, std::uint32_t input_nr, Variable grad);
  void push_ready(Index index);

  BackwardOptions options_;
  std::vector<State> states_;
  std::unordered_map<Node*, Index> contended_;  // nodes whose slot belongs to another pass
  std::vector<Ready> ready_;
  std::vector<Target> targets_;
  std::vector<Ref<Node>> roots_;  // keep the graph alive: hooks may drop the caller's tensors
  variable_list captured_;
  StreamOrder streams_;
};

}  // namespace ebb::autograd
