// A node of the graph: one recorded op, and how to take its derivative.
#pragma once

#include <ebb/autograd/variable.h>
#include <ebb/core/ref.h>
#include <ebb/core/small_vector.h>

#include <atomic>
#include <cstdint>
#include <iosfwd>
#include <string>

namespace ebb::autograd {

class GraphTask;
class SavedVariable;
struct NodeExtras;  // hooks and anomaly records: what few nodes have

/// Where the gradient of one input goes: output `input_nr` of the node that computed the input.
struct Edge {
  using Relocatable = Edge;  // see SmallVector

  Ref<Node> function;
  std::uint32_t input_nr = 0;
  bool is_valid() const { return static_cast<bool>(function); }
};

/// Gradients in and out of a node; three without the heap.
using GradList = SmallVector<Variable, 3>;

/// What the engine must know of an output in order to check and complete its gradient.
struct OutputMeta {
  explicit OutputMeta(const NdArray& x) : sizes(x.sizes()), dtype(x.dtype()), device(x.device()) {}
  DimVector sizes;
  DType dtype;
  Device device;
};

/// One op of the graph. Derive a struct named after the op (`ExpBackward`), hold what its derivative needs
/// in SavedVariables, and compute the gradients of the inputs in apply(), by differentiable ops only: that
/// gives every higher derivative. Edges go to the nodes that made the inputs. See docs/adding-an-op.md.
class EBB_API Node : public RefCounted<Node, true> {
 public:
  Node();
  virtual ~Node();

  /// torch's name of the node, e.g. "ExpBackward0".
  virtual std::string name() const = 0;
  /// Gradients with respect to the outputs in, with respect to the inputs out (one an edge; undefined stands
  /// for zero). At least one incoming gradient is defined unless runs_on_undefined(). Gradients may come back
  /// in a shape that the input was broadcast to, or in another dtype: the engine reduces and converts them.
  virtual GradList apply(GradList&& grads) = 0;
  /// Whether apply() must be called even when no gradient arrives.
  virtual bool runs_on_undefined() const { return false; }
  /// Frees what was saved; a later unpack() says so. Overriders call the base.
  virtual void release_variables();

  std::uint64_t sequence_nr() const { return sequence_nr_; }
  std::uint32_t num_inputs() const { return static_cast<std::uint32_t>(outputs_.size()); }
  std::uint32_t num_outputs() const { return static_cast<std::uint32_t>(edges_.size()); }
  ArrayRef<Edge> next_edges() const { return edges_; }
  const Edge& next_edge(std::size_t i) const { return edges_[i]; }
  /// Whether the i-th input wants a gradient.
  bool should_compute_output(std::size_t i) const { return i < edges_.size() && edges_[i].is_valid(); }
  /// The same; within apply(), whether the walk that runs it has a use for one, too: autograd::grad asks for
  /// those alone that lead to its inputs (torch: task_should_compute_output).
  bool needs(std::size_t i) const;
  const OutputMeta& output_meta(std::size_t i) const { return outputs_[i]; }

  /// Appends the edge of one input: to its node, to its accumulator if it is a leaf, or none.
  void add_input(const Variable& input);
  void add_edge(Edge edge);
  /// Registers an output and returns its number.
  std::uint32_t add_output(const NdArray& output);
  /// grads[i], or zeros in the shape of output i where it is undefined.
  Variable grad_or_zeros(const GradList& grads, std::size_t i) const;

  /// The stream that the op ran on, of the device of its first output; null for the default one.
  void* stream() const { return stream_; }

  /// The module whose forward recorded it, by number; 0 outside of modules.
  std::uint32_t place() const { return place_; }

  NodeExtras& extras();
  NodeExtras* extras_or_null() const { return extras_; }
  /// First of the node's SavedVariables, which form a list.
  const SavedVariable* first_saved() const { return saved_; }

  static void destroy(Node* node) noexcept;
  static void* operator new(std::size_t bytes);
  static void operator delete(void* block, std::size_t bytes) noexcept;

 protected:
  std::uint64_t sequence_nr_;

 private:
  friend class GraphTask;
  friend class SavedVariable;

  std::atomic<GraphTask*> task_{nullptr};  // the walk that is using task_slot_
  std::uint32_t task_slot_ = 0;
  std::uint32_t place_;  // the module whose forward recorded it: see src/autograd/places.h
  void* stream_ = nullptr;
  SavedVariable* saved_ = nullptr;
  NodeExtras* extras_ = nullptr;
  Node* next_dead_ = nullptr;
  SmallVector<Edge, 2> edges_;
  SmallVector<OutputMeta, 1> outputs_;
};

/// "<AddBackward0 object at 0x55d0c8a3b2c0>"; "None" of a null one.
EBB_API std::ostream& operator<<(std::ostream& out, const Ref<Node>& node);

/// The edge that leads the gradient of `x` on: to its grad_fn, or its accumulator if it is a leaf that
/// requires grad.
EBB_API Edge gradient_edge(const Variable& x);
/// The node that adds to `x.grad()`; made on first use. x must be a leaf that requires grad.
EBB_API Ref<Node> grad_accumulator(const Variable& x);

}  // namespace ebb::autograd
