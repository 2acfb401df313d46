// Names of ops and nodes on a profiler's timeline, with the number by which the two find each other.
#include "autograd/op_range.h"

#include "autograd/thread_state.h"

namespace ebb {
namespace {

void push(const std::string& name, std::int64_t sequence_nr) {
  // An accumulator of gradients has the greatest number, which says nothing.
  cuda::nvtx::range_push(sequence_nr < 0 ? name : detail::text(name, ", seq = ", sequence_nr));
}

}  // namespace

namespace detail {

// Declared in kernel/slot.h. The op's node, if it records one, is the next of this thread.
EBB_API void push_op_range(const char* name) {
  const autograd::ThreadState& state = autograd::thread_state;
  push(name, state.grad_mode ? static_cast<std::int64_t>(state.next_sequence_nr) : -1);
}
EBB_API void pop_op_range() noexcept { cuda::nvtx::range_pop(); }

}  // namespace detail

void autograd::push_node_range(const Node& node) {
  push(node.name(), static_cast<std::int64_t>(node.sequence_nr()));
}

}  // namespace ebb
