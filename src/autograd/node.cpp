// Nodes, and short descriptions of tensors and nodes for messages and streams.
#include <ebb/autograd/node.h>
#include <ebb/autograd/variable.h>
#include <ebb/core/allocator.h>

#include "autograd/diagnostics.h"
#include "autograd/meta.h"
#include "autograd/thread_state.h"
#include "core/backend.h"

#include <ostream>

namespace ebb::autograd {

Node::Node() : sequence_nr_(thread_state.next_sequence_nr++), place_(current_place) {
  detail::count_node(1);
  if (thread_state.anomaly_mode) [[unlikely]]
    note_origin(*this);
}

Node::~Node() {
  delete extras_;
  detail::count_node(-1);
}

void Node::release_variables() {
  for (SavedVariable* s = saved_; s; s = s->next_) s->release();
}

void Node::add_input(const Variable& input) {
  edges_.push_back(input.defined() ? gradient_edge(input) : Edge{});
}

bool Node::needs(std::size_t i) const {
  return should_compute_output(i) && (thread_state.skipped_inputs_mask == 0 || !is_skipped(i));
}

bool Node::is_skipped(std::size_t i) const {
  return thread_state.evaluating == this && i < 64 && (thread_state.skipped_inputs_mask >> i & 1) != 0;
}

void Node::add_edge(Edge edge) { edges_.push_back(std::move(edge)); }

std::uint32_t Node::add_output(const NdArray& output) {
  outputs_.emplace_back(output);
  if (detail::side_streams_used() && outputs_.size() == 1 && output.device().is_cuda()) [[unlikely]]
    stream_ = detail::backend(kCUDA).current_stream(output.device());
  return static_cast<std::uint32_t>(outputs_.size() - 1);
}

Variable Node::grad_or_zeros(const GradList& grads, std::size_t i) const {
  if (grads[i].defined()) return grads[i];
  const OutputMeta& m = outputs_[i];
  Variable zeros(NdArray::empty(m.sizes, m.dtype, m.device));
  zeros.zero_();
  return zeros;
}

NodeExtras& Node::extras() {
  if (!extras_) extras_ = new NodeExtras;
  return *extras_;
}

void Node::destroy(Node* node) noexcept {
  // Deleting a node releases its edges and saved tensors, which may own further nodes, along a chain of any
  // length. A nested deletion therefore only adds its node to a list, so that the stack does not overflow.
  ThreadState& t = thread_state;
  if (t.deleting_nodes) {
    node->next_dead_ = t.dead_nodes;
    t.dead_nodes = node;
    return;
  }
  t.deleting_nodes = true;
  while (node) {
    delete node;
    node = t.dead_nodes;
    if (node) t.dead_nodes = node->next_dead_;
  }
  t.deleting_nodes = false;
}

void* Node::operator new(std::size_t bytes) { return detail::pool_allocate(bytes); }
void Node::operator delete(void* block, std::size_t bytes) noexcept { detail::pool_free(block, bytes); }

Edge gradient_edge(const Variable& x) {
  VariableImpl& impl = *x.impl();
  if (!meta_slot(impl).load(std::memory_order_acquire)) [[likely]] {  // not a view
    if (impl.grad_fn) return {impl.grad_fn, impl.output_nr};
    if (!impl.requires_grad) return {};
  }
  check_up_to_date(x);
  if (const Ref<Node>& fn = current_grad_fn(x)) return {fn, x.output_nr()};
  if (impl.requires_grad) return {grad_accumulator(x), 0};
  return {};
}

}  // namespace ebb::autograd

namespace ebb {

void append_text(std::string& out, const Variable& x) {
  if (!x.defined()) {
    out += "an undefined tensor";
    return;
  }
  append_text(out, x.dtype());
  append_text(out, x.sizes());
  out += " on ";
  append_text(out, x.device());
}

std::ostream& autograd::operator<<(std::ostream& out, const Ref<Node>& node) {
  if (!node) return out << "None";
  return out << '<' << node->name() << " object at " << static_cast<const void*>(node.get()) << '>';
}

std::string Variable::toString() const {
  if (!defined()) return "UndefinedType";
  return (is_cuda() ? "CUDA" : "CPU") + (ebb::to_string(dtype()) + std::string("Type"));
}

}  // namespace ebb
