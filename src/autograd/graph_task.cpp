// One backward pass: dependency counts, ready nodes, captured gradients, and the order of a device's streams.
#include "autograd/graph_task.h"

#include <ebb/autograd/grad_mode.h>

#include "autograd/accumulate_grad.h"
#include "autograd/diagnostics.h"
#include "autograd/meta.h"
#include "autograd/thread_state.h"
#include "core/messages.h"

#include <algorithm>

namespace ebb::autograd {
namespace {

void* current_stream(Device device) { return detail::backend(kCUDA).current_stream(device); }

}  // namespace

void* StreamOrder::caller_of(Device device) {
  for (const Used& used : used_)
    if (used.device == device) return used.caller;
  return current_stream(device);
}

// Returns the stream of the node's forward op. An accumulator has no forward op; it runs on the caller's
// stream.
void* StreamOrder::stream_of(const Node& node, Device device) {
  const bool own = node.num_outputs() > 0 && node.num_inputs() > 0 && node.output_meta(0).device == device;
  return own ? node.stream() : caller_of(device);
}

void StreamOrder::Scope::enter(StreamOrder& order, const Node& node) {
  if (node.num_inputs() == 0) return;
  device_ = node.output_meta(0).device;
  if (!device_.is_cuda()) return;
  void *const stream = order.stream_of(node, device_), *const current = current_stream(device_);
  if (stream == current) return;
  auto used = std::find_if(order.used_.begin(), order.used_.end(),
                           [&](const Used& u) { return u.device == device_; });
  if (used == order.used_.end()) {
    order.used_.push_back({device_, current, {}});  // first switch: the current stream is still the caller's
    used = order.used_.end() - 1;
  }
  if (stream != used->caller &&
      std::find(used->streams.begin(), used->streams.end(), stream) == used->streams.end())
    used->streams.push_back(stream);
  order.set(device_, stream);
  previous_ = current;
  order_ = &order;
}

void StreamOrder::pass(const Variable& grad, void* to) {
  const Device device = grad.device();
  void* const from = current_stream(device);
  if (from == to) return;
  detail::backend(kCUDA).order_streams(device, from, device, to);
  grad.array().storage()->used_on(device, to);
  crossed_ = true;
}

void StreamOrder::hand_over(const Variable& grad, const Node& to) {
  if (active_ && grad.defined() && grad.is_cuda()) [[unlikely]]
    pass(grad, stream_of(to, grad.device()));
}

void StreamOrder::hand_back(const Variable& grad) {
  if (active_ && grad.defined() && grad.is_cuda()) [[unlikely]]
    pass(grad, caller_of(grad.device()));
}

void StreamOrder::finish() {
  for (const Used& used : used_)
    for (void* stream : used.streams)
      detail::backend(kCUDA).order_streams(used.device, stream, used.device, used.caller);
}

GraphTask::~GraphTask() {
  // The nodes still exist here, because roots_ keeps them alive.
  for (const State& s : states_)
    if (s.node->task_.load(std::memory_order_relaxed) == this)
      s.node->task_.store(nullptr, std::memory_order_release);
}

bool GraphTask::find(Node* node, Index& index) const {
  if (node->task_.load(std::memory_order_acquire) == this) {
    index = node->task_slot_;
    return true;
  }
  if (contended_.empty()) return false;
  const auto it = contended_.find(node);
  if (it == contended_.end()) return false;
  index = it->second;
  return true;
}

GraphTask::Index GraphTask::index_of(Node* node) {
  Index index;
  if (find(node, index)) return index;
  index = static_cast<Index>(states_.size());
  states_.emplace_back(node);
  GraphTask* no_task = nullptr;
  if (node->task_.compare_exchange_strong(no_task, this, std::memory_order_acq_rel))
    node->task_slot_ = index;
  else
    contended_.emplace(node, index);
  return index;
}

void GraphTask::add_root(const Edge& edge, Variable seed) {
  roots_.push_back(edge.function);
  accumulate(states_[index_of(edge.function.get())], edge.input_nr, std::move(seed));
}

void GraphTask::add_target(const Edge& edge, bool run) { targets_.push_back({edge, run}); }

void GraphTask::find_nodes() {
  // The loop appends to states_, which serves as the queue.
  for (Index i = 0; i < states_.size(); ++i)
    for (const Edge& edge : states_[i].node->next_edges())
      if (edge.is_valid()) ++states_[index_of(edge.function.get())].waits_for;
}

void GraphTask::mark_needed() {
  for (State& s : states_) s.needed = false;
  for (const Target& t : targets_) {
    Index index;
    if (!t.edge.is_valid() || !find(t.edge.function.get(), index)) continue;
    states_[index].target = true;
    states_[index].needed |= t.run;
  }
  // Computes a topological order, then visits it in reverse: a node is needed if one of its edges leads to a
  // target.
  std::vector<Index> order, waits(states_.size());
  for (Index i = 0; i < states_.size(); ++i) {
    waits[i] = states_[i].waits_for;
    if (waits[i] == 0) order.push_back(i);
  }
  Index next = 0;
  for (std::size_t k = 0; k < order.size(); ++k)
    for (const Edge& edge : states_[order[k]].node->next_edges())
      if (edge.is_valid() && find(edge.function.get(), next) && --waits[next] == 0) order.push_back(next);
  for (std::size_t k = order.size(); k-- > 0;)
    for (const Edge& edge : states_[order[k]].node->next_edges())
      if (edge.is_valid() && find(edge.function.get(), next) &&
          (states_[next].needed || states_[next].target))
        states_[order[k]].needed = true;
}

void GraphTask::push_ready(Index index) {
  ready_.push_back({states_[index].node->sequence_nr(), index});
  std::push_heap(ready_.begin(), ready_.end());
}

variable_list GraphTask::run() {
  find_nodes();
  if (!targets_.empty()) mark_needed();
  captured_.resize(targets_.size());
  for (Index i = 0; i < states_.size(); ++i)
    if (states_[i].waits_for == 0) push_ready(i);
  while (!ready_.empty()) {
    std::pop_heap(ready_.begin(), ready_.end());
    const Index index = ready_.back().index;
    ready_.pop_back();
    evaluate(index);
  }
  streams_.finish();
  return std::move(captured_);
}

void GraphTask::evaluate(Index index) {
  State& state = states_[index];
  Node& node = *state.node;
  const StreamOrder::Scope scope(streams_, node);
  GradList grads = std::move(state.grads);
  bool any = false;
  for (const Variable& grad : grads) any |= grad.defined();
  if (grads.size() < node.num_inputs()) grads.resize(node.num_inputs());
  // The order is the same as in PyTorch 2: a gradient that continues beyond this node is captured before the
  // tensor's hooks, and a gradient that ends here is captured after them.
  const bool ends_here = !state.needed;
  if (state.target && !ends_here) capture(node, grads);
  if (any && node.extras_or_null()) run_tensor_hooks(node, grads);
  if (state.target && ends_here) {
    if (const auto* leaf = any ? dynamic_cast<const AccumulateGrad*>(&node) : nullptr)
      grads[0] = leaf->hooked(std::move(grads[0]));
    capture(node, grads);
  }

  const ArrayRef<Edge> edges = node.next_edges();
  if (state.needed && (any || node.runs_on_undefined())) {
    GradList results = call(node, std::move(grads));
    if (!options_.keep_graph) node.release_variables();
    for (std::size_t i = 0; i < edges.size(); ++i)
      if (edges[i].is_valid()) deliver(node, i, edges[i], std::move(results[i]));
  } else {
    for (const Edge& edge : edges)
      if (edge.is_valid()) deliver(node, 0, edge, {});
  }
}

// Stores the gradients for the targets at this node.
void GraphTask::capture(const Node& node, const GradList& grads) {
  for (std::size_t t = 0; t < targets_.size(); ++t)
    if (targets_[t].edge.function.get() == &node) {
      captured_[t] = grads[targets_[t].edge.input_nr];
      // Copies an expanded gradient, because the caller may write to the result, and an expanded tensor
      // allows no writes.
      if (captured_[t].defined() && captured_[t].array().is_expanded())
        captured_[t] = captured_[t].contiguous();
      streams_.hand_back(captured_[t]);
    }
}

// Returns a mask of the node's inputs that lead to no target: one bit for each of the first 64.
std::uint64_t GraphTask::skipped_inputs_of(const Node& node) const {
  if (targets_.empty()) return 0;
  std::uint64_t mask = 0;
  Index next = 0;
  const ArrayRef<Edge> edges = node.next_edges();
  for (std::size_t i = 0; i < std::min<std::size_t>(edges.size(), 64); ++i)
    if (edges[i].is_valid() && find(edges[i].function.get(), next) && !states_[next].needed &&
        !states_[next].target)
      mask |= std::uint64_t{1} << i;
  return mask;
}

namespace {

GradList applied(Node& node, GradList&& grads) {
  GradList results;
  try {
    results = node.apply(std::move(grads));
  } catch (const Error&) {
    warn_of_failure(node);
    ebb::detail::rethrow_with(origin_text(node));
  }
  EBB_CHECK(results.size() == node.num_outputs(), "Function ", node.name(),
            " returned an incorrect number of gradients (expected ", node.num_outputs(), ", got ",
            std::uint64_t{results.size()}, "). Return one gradient for each input; it may be undefined.");
  return results;
}

GradList applied_with_hooks(Node& node, GradList&& grads) {
  run_pre_hooks(node, grads);
  const GradList given = grads;
  GradList results = applied(node, std::move(grads));
  run_post_hooks(node, results, given);
  return results;
}

}  // namespace

GradList GraphTask::call(Node& node, GradList&& grads) {
  struct Restore {
    Node* node = thread_state.evaluating;
    std::uint64_t skipped_inputs_mask = thread_state.skipped_inputs_mask;
    std::uint32_t place = current_place;
    ~Restore() {
      thread_state.evaluating = node;
      thread_state.skipped_inputs_mask = skipped_inputs_mask;
      current_place = place;
    }
  } restore;
  thread_state.evaluating = &node;
  current_place = node.place_;
  thread_state.skipped_inputs_mask = skipped_inputs_of(node);
  const NodeRange range(node);
  GradList results =
      node.extras_or_null() ? applied_with_hooks(node, std::move(grads)) : applied(node, std::move(grads));
  if (thread_state.anomaly_mode && thread_state.check_nan) [[unlikely]]
    check_nan(node, results);
  return results;
}

void GraphTask::deliver(const Node& from, std::size_t i, const Edge& edge, Variable grad) {
  Index index;
  find(edge.function.get(), index);
  State& state = states_[index];
  if (grad.defined() && (state.needed || state.target)) {
    const OutputMeta& meta = edge.function->output_meta(edge.input_nr);
    if (grad.array().sizes() != IntArrayRef(meta.sizes)) {
      // An op may return a gradient in the broadcast shape of its input.
      bool reducible = grad.dim() >= static_cast<std::int64_t>(meta.sizes.size());
      const std::size_t lead = static_cast<std::size_t>(grad.dim()) - meta.sizes.size();
      for (std::size_t d = 0; reducible && d < meta.sizes.size(); ++d)
        reducible = meta.sizes[d] == grad.sizes()[lead + d] || meta.sizes[d] == 1;
      EBB_CHECK(reducible, "Function ", from.name(), " returned an invalid gradient at index ",
                std::uint64_t{i}, " - got ", grad.sizes(), " but expected shape compatible with ",
                IntArrayRef(meta.sizes), ".");
      grad = grad.sum_to_size(meta.sizes);
    }
    if (grad.array().dtype() != meta.dtype) grad = grad.to(meta.dtype);
    EBB_CHECK(grad.array().device() == meta.device, "Function ", from.name(), " returned a gradient on ",
              grad.device(), " at index ", std::uint64_t{i}, " but its input is on ", meta.device,
              ". Move it with .to(device).");
    accumulate(state, edge.input_nr, std::move(grad));
  }
  if (--state.waits_for == 0) push_ready(index);
}

void GraphTask::accumulate(State& state, std::uint32_t input_nr, Variable grad) {
  streams_.hand_over(grad, *state.node);
  if (state.grads.size() == input_nr) return state.grads.push_back(std::move(grad));
  if (state.grads.size() < input_nr) state.grads.resize(input_nr + 1);
  Variable& sum = state.grads[input_nr];
  if (!sum.defined()) {
    sum = std::move(grad);
    return;
  }
  const StreamOrder::Scope scope(streams_, *state.node);
  // Adds in place if nothing else refers to the buffer.
  const bool ours = !GradMode::is_enabled() && !streams_.crossed() && sum.use_count() == 1 &&
                    sum.array().is_contiguous() && sum.array().storage()->use_count() == 1;
  if (ours)
    sum.add_(grad);
  else
    sum = sum.add(grad);
}

}  // namespace ebb::autograd
