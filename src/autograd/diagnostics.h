// Diagnostics of the graph: the records of anomaly mode, numbers of modules, and the profiler ranges of
// nodes. They show which forward op and module a node belongs to. The public guards are in
// ebb/autograd/anomaly.h.
#pragma once

#include <ebb/autograd/node.h>
#include <ebb/autograd/place.h>
#include <ebb/cuda/nvtx.h>

#include <cstdint>
#include <string>

namespace ebb::autograd {

/// Records the node whose backward is recording `node`, if any.
void note_origin(Node& node);
/// Throws if a gradient that `node` returned contains NaN. The message names the forward op.
void check_nan(const Node& node, const GradList& grads);
/// In anomaly mode, warns that the node's backward failed, and shows the stack trace of its forward op.
void warn_of_failure(const Node& node);
/// Returns text for an error in the node's backward: the origin that note_origin() recorded, and the module
/// whose forward recorded the node.
std::string origin_text(const Node& node);

/// Registers a module and returns a new number, which is never reused. `describe(module)` returns the
/// module's path in the module tree. Thread-safe.
std::uint32_t register_module_number(const void* module, std::string (*describe)(const void* module));
/// Unregisters a destroyed module. Does nothing for 0.
void release_module_number(std::uint32_t place) noexcept;
/// Returns `describe(module)` for the module with the number `place`; empty for 0 and for a destroyed module.
EBB_API std::string module_text(std::uint32_t place);
/// Returns the node whose backward is running on this thread; null outside of a backward pass.
EBB_API const Node* running_node() noexcept;

/// Opens a range such as "MmBackward0, seq = 7". The range of the forward op has the same number.
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
