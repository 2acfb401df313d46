// What the files of the emulated runtime share.
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

/// What a stream does next.
struct Work {
  std::function<void()> action;  // may be empty
  std::shared_ptr<Mark> after;   // starts when this is reached; may be null
};

/// For each stream of a capture the number of its last piece of work that is known to come before.
using Clock = std::map<const CUstream_st*, std::size_t>;

/// A piece of captured work. Two graphs have one topology when their nodes are equal but for the action.
struct GraphNode {
  std::function<void()> action;
  NodeType type;
  std::vector<std::size_t> after;  // for each stream of the capture, the last of its nodes that comes before
};

}  // namespace ebb::emu

struct CUstream_st {
  std::deque<ebb::emu::Work> queue;
  std::shared_ptr<ebb::emu::Capturing> capture;
  ebb::emu::Clock before;  // in a capture
};
struct CUevent_st {
  std::shared_ptr<ebb::emu::Mark> mark;  // null: not recorded, or in a capture
  bool captured = false;
  std::weak_ptr<ebb::emu::Capturing> capture;  // what it was recorded in
  ebb::emu::Clock before;
};
struct CUgraph_st {
  std::vector<ebb::emu::GraphNode> nodes;
};
struct CUgraphExec_st {
  std::vector<ebb::emu::GraphNode> nodes;
  std::shared_ptr<ebb::emu::Mark> last;  // launches of one graph follow each other
};

namespace ebb::emu {

/// A point in a stream's queue.
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

/// Remembers the error for cudaGetLastError and returns it.
cudaError_t set_error(cudaError_t error);
/// An error if this call was to fail: see fail_call() and break_device().
cudaError_t injected_error();
/// The same for a call that asks for memory, which fail_call() lets fail for want of it.
cudaError_t injected_memory_error();
/// For tests: every call that can fail does, and cudaGetLastError() does not forget it, as after a kernel
/// that read where it must not. cudaSuccess mends it, which no real device can do.
void break_device(cudaError_t error);
/// For tests: how often cudaEventQuery was called.
long event_queries();
/// Memory of each emulated device.
std::size_t device_memory_bytes();
int current_device_index();

/// Guards streams, events and graphs.
std::recursive_mutex& stream_mutex();
/// The stream behind a handle; null stands for the current device's default one.
CUstream_st& stream_behind(cudaStream_t handle);
/// Queues work, or records it.
void queue_work(CUstream_st& stream, Work work);
/// Adds an action to what is captured, after everything that the stream knows.
void capture_work(CUstream_st& stream, std::function<void()> action, NodeType type);
/// The same for the nodes of a graph, one after the other.
void capture_graph(CUstream_st& stream, const std::vector<GraphNode>& nodes);
/// Runs what is queued until the mark is reached, or everything on one stream, or on all.
void run_until(const Mark& mark);
void run_all(CUstream_st& stream);
void run_all();

/// Takes memory of the emulated device that cudaMalloc may have too; false where there is not so much.
bool take_device_memory(std::size_t bytes);
void give_device_memory(std::size_t bytes);
/// Opens and closes what is mapped of virtual memory, as DeviceAccess does with the rest.
void protect_virtual_memory(bool open);
bool is_virtual_memory(const void* address);
/// Whether the address lies in device memory, or in memory of cudaHostAlloc.
bool is_device_memory(const void* address);
bool is_pinned_memory(const void* address);

}  // namespace ebb::emu
