// The profiler's range of a node that backward runs.
#pragma once

#include <ebb/autograd/node.h>
#include <ebb/cuda/nvtx.h>

namespace ebb::autograd {

/// Opens "MmBackward0, seq = 7"; the number is that of the op's own range.
void push_node_range(const Node& node);

class NodeRange {
 public:
  explicit NodeRange(const Node& node) : open_(detail::nvtx_emitted.load(std::memory_order_relaxed)) {
    if (open_) [[unlikely]]
      push_node_range(node);
  }
  ~NodeRange() {
    if (open_) [[unlikely]]
      cuda::nvtx::range_pop();
  }
  NodeRange(const NodeRange&) = delete;

 private:
  bool open_;
};

}  // namespace ebb::autograd
