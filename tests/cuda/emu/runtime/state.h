// Shared declarations of the emulated runtime.
#pragma once

#include "cuda/emu/runtime/api.h"

#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace ebb::emu {

struct Mark;
struct Capturing;

/// An item in the queue of a stream.
struct Work {
  std::function<void()> action;  // may be empty
  std::shared_ptr<Mark> after;   // the item starts when this mark is reached; may be null
};

/// For each stream of a capture, the number of its last item that is known to come before.
using Clock = std::map<const CUstream_st*, std::size_t>;

/// A captured item. Two graphs have the same topology if their nodes are equal except for the action.
struct GraphNode {
  std::function<void()> action;
  NodeType type;
  std::vector<std::size_t> after;  // for each stream of the capture, its last node that comes before
};

}  // namespace ebb::emu

struct CUstream_st {
  std::deque<ebb::emu::Work> queue;
  std::shared_ptr<ebb::emu::Capturing> capture;
  ebb::emu::Clock before;  // in a capture
};
struct CUevent_st {
  std::shared_ptr<ebb::emu::Mark> mark;  // null if not recorded, or in a capture
  bool captured = false;
  std::weak_ptr<ebb::emu::Capturing> capture;  // the capture in which it was recorded
  ebb::emu::Clock before;
};
struct CUgraph_st {
  std::vector<ebb::emu::GraphNode> nodes;
};
struct CUgraphExec_st {
  std::vector<ebb::emu::GraphNode> nodes;
  std::shared_ptr<ebb::emu::Mark> last;  // launches of one graph run in order
};

namespace ebb::emu {

/// A point in the queue of a stream.
struct Mark {
  CUstream_st* stream;
  bool reached = false;
  std::chrono::steady_clock::time_point at{};
};

struct Capturing {
  CUstream_st* origin;
  std::vector<CUstream_st*> streams;
  std::unique_ptr<CUgraph_st> graph = std::make_unique<CUgraph_st>();
  bool broken = false;
};

/// Stores the error for cudaGetLastError and returns it.
cudaError_t set_error(cudaError_t error);
/// Returns an error if this call must fail: see fail_call() and break_device().
cudaError_t injected_error();
/// The same for a call that allocates memory; fail_call() makes it fail with out of memory.
cudaError_t injected_memory_error();
/// For tests: makes every call that can fail do so, and cudaGetLastError() does not clear the error, as after
/// an illegal access of a kernel. cudaSuccess restores the device, which is impossible on a real one.
void break_device(cudaError_t error);
/// For tests: the number of cudaEventQuery calls.
long event_queries();
/// Memory of each emulated device.
std::size_t device_memory_bytes();
int current_device_index();

/// Guards streams, events and graphs.
std::recursive_mutex& stream_mutex();
/// The stream of a handle; null is the default stream of the current device.
CUstream_st& stream_behind(cudaStream_t handle);
/// Queues work, or records it in a capture.
void queue_work(CUstream_st& stream, Work work);
/// Adds an action to a capture, after all work that the stream depends on.
void capture_work(CUstream_st& stream, std::function<void()> action, NodeType type);
/// The same for the nodes of a graph, in order.
void capture_graph(CUstream_st& stream, const std::vector<GraphNode>& nodes);
/// Runs queued work until the mark is reached, or all work of one stream, or of all streams.
void run_until(const Mark& mark);
void run_all(CUstream_st& stream);
void run_all();

/// Reserves device memory from the same total as cudaMalloc; returns false if there is too little.
bool take_device_memory(std::size_t bytes);
void give_device_memory(std::size_t bytes);
/// Changes the protection of mapped virtual memory, as DeviceAccess does for other memory.
void protect_virtual_memory(bool open);
bool is_virtual_memory(const void* address);
/// Whether the address is in device memory, or in memory of cudaHostAlloc.
bool is_device_memory(const void* address);
bool is_pinned_memory(const void* address);

}  // namespace ebb::emu
