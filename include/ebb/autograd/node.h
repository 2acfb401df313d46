// Node: one recorded op of the graph, which computes the op's derivative.
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
struct NodeExtras;  // hooks and anomaly records, which few nodes have

/// The destination of one input's gradient: output `input_nr` of the node that computed the input.
struct Edge {
  using Relocatable = Edge;  // see SmallVector

  Ref<Node> function;
  std::uint32_t input_nr = 0;
  bool is_valid() const { return static_cast<bool>(function); }
};

/// The gradients that enter or leave a node. Up to three need no heap memory.
using GradList = SmallVector<Variable, 3>;

/// Metadata of an output. The engine uses it to check the gradient of the output, to convert the gradient to
/// the output's dtype, and to sum over broadcast dimensions.
struct OutputMeta {
  explicit OutputMeta(const NdArray& x) : sizes(x.sizes()), dtype(x.dtype()), device(x.device()) {}
  DimVector sizes;
  DType dtype;
  Device device;
};

/// One op of the graph. Derive a struct named after the op (`ExpBackward`). Store the tensors that its
/// derivative needs in SavedVariables. Compute the gradients of the inputs in apply(), with differentiable
/// ops only, so that all higher derivatives work. Edges point to the nodes that computed the inputs. See
/// docs/adding-an-op.md.
class EBB_API Node : public RefCounted<Node> {
 public:
  Node();
  virtual ~Node();

  /// Returns torch's name of the node, for example "ExpBackward0".
  virtual std::string name() const = 0;
  /// Gets the gradients of the outputs and returns the gradients of the inputs, one for each edge. An
  /// undefined gradient means zero. At least one incoming gradient is defined unless runs_on_undefined(). A
  /// returned gradient may have another dtype than the input, or a shape to which the input was broadcast.
  /// The engine then converts the gradient or sums it to the shape of the input.
  virtual GradList apply(GradList&& grads) = 0;
  /// Returns whether apply() must be called even if no gradient arrives.
  virtual bool runs_on_undefined() const { return false; }
  /// Frees the saved tensors. A later unpack() throws an error that says so. An override must also call
  /// Node::release_variables().
  virtual void release_variables();

  std::uint64_t sequence_nr() const { return sequence_nr_; }
  std::uint32_t num_inputs() const { return static_cast<std::uint32_t>(outputs_.size()); }
  std::uint32_t num_outputs() const { return static_cast<std::uint32_t>(edges_.size()); }
  ArrayRef<Edge> next_edges() const { return edges_; }
  const Edge& next_edge(std::size_t i) const { return edges_[i]; }
  /// Returns whether the i-th input needs a gradient.
  bool should_compute_output(std::size_t i) const { return i < edges_.size() && edges_[i].is_valid(); }
  /// Returns whether the running backward pass needs the gradient of the i-th input. autograd::grad only
  /// needs gradients on paths to its inputs. Outside apply() the result equals should_compute_output(i)
  /// (torch: task_should_compute_output).
  bool needs(std::size_t i) const;
  const OutputMeta& output_meta(std::size_t i) const { return outputs_[i]; }

  /// Appends an edge that leads to the node that computed `input`, or to its gradient accumulator if `input`
  /// is a leaf. If `input` does not require a gradient, the edge is empty.
  void add_input(const Variable& input);
  void add_edge(Edge edge);
  /// Registers an output and returns its index.
  std::uint32_t add_output(const NdArray& output);
  /// Returns grads[i], or zeros in the shape of output i if grads[i] is undefined.
  Variable grad_or_zeros(const GradList& grads, std::size_t i) const;

  /// Returns the stream on which the op ran, on the device of its first output. Null means the default
  /// stream.
  void* stream() const { return stream_; }

  /// Returns the index of the module whose forward recorded the op; 0 outside of modules.
  std::uint32_t place() const { return place_; }

  NodeExtras& extras();
  NodeExtras* extras_or_null() const { return extras_; }
  /// Returns the first of the node's SavedVariables, which form a linked list.
  const SavedVariable* first_saved() const { return saved_; }

  static void destroy(Node* node) noexcept;
  static void* operator new(std::size_t bytes);
  static void operator delete(void* block, std::size_t bytes) noexcept;

 protected:
  std::uint64_t sequence_nr_;

 private:
  friend class GraphTask;
  friend class SavedVariable;

  bool is_skipped(std::size_t i) const;  // whether the running pass does not need the gradient of input i

  std::atomic<GraphTask*> task_{nullptr};  // the backward pass that uses task_slot_
  std::uint32_t task_slot_ = 0;
  std::uint32_t place_;  // the module whose forward recorded the op: see src/autograd/diagnostics.h
  void* stream_ = nullptr;
  SavedVariable* saved_ = nullptr;
  NodeExtras* extras_ = nullptr;
  Node* next_dead_ = nullptr;
  SmallVector<Edge, 2> edges_;
  SmallVector<OutputMeta, 1> outputs_;
};

/// Prints "<AddBackward0 object at 0x55d0c8a3b2c0>", or "None" for a null pointer.
EBB_API std::ostream& operator<<(std::ostream& out, const Ref<Node>& node);

/// Returns the edge that the gradient of `x` follows. It leads to the grad_fn of `x`, or to the accumulator
/// of a leaf that requires grad.
EBB_API Edge gradient_edge(const Variable& x);
/// Returns the node that adds gradients to `x.grad()`. The first call for `x` creates the node. x must be a
/// leaf that requires grad.
EBB_API Ref<Node> grad_accumulator(const Variable& x);

}  // namespace ebb::autograd
