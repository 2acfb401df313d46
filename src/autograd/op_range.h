// The profiler range of a node that runs in backward.
#pragma once

#include <ebb/autograd/node.h>
#include <ebb/cuda/nvtx.h>

namespace ebb::autograd {

/// Opens a range such as "MmBackward0, seq = 7"; the number is that of the forward op's range.
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
