// NVTX ranges of ops and nodes on a profiler's timeline. A sequence number links the two.
#include "autograd/op_range.h"

#include "autograd/thread_state.h"

namespace ebb {
namespace {

void push(const std::string& name, std::int64_t sequence_nr) {
  // An AccumulateGrad node has the largest possible number, which is negative here and is not shown.
  cuda::nvtx::range_push(sequence_nr < 0 ? name : detail::text(name, ", seq = ", sequence_nr));
}

}  // namespace

namespace detail {

// Declared in kernel/call/slot.h. If the op records a node, it gets this thread's next sequence number.
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
