// Captured work of a device that runs again as a whole (torch.cuda.CUDAGraph).
#pragma once

#include <ebb/cuda/stream.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace ebb::detail {
class DeviceGraphPool;
}

namespace ebb::cuda {

/// Memory that several graphs share, by value: copies are the same pool, which lives as long as they and its
/// graphs. What a capture freed serves the captures after it, so graphs of one pool must be replayed in the
/// order in which they were captured, and a tensor of an earlier one must be held until the last of them was
/// captured that must not overwrite it. Replays of graphs of a pool wait for each other, whatever stream they
/// run on (torch.cuda.graph_pool_handle).
class EBB_API GraphPool {
 public:
  friend bool operator==(const GraphPool& a, const GraphPool& b) { return a.pool_ == b.pool_; }

 private:
  friend class Graph;
  friend EBB_API GraphPool graph_pool_handle();
  explicit GraphPool(std::shared_ptr<detail::DeviceGraphPool> pool) : pool_(std::move(pool)) {}
  std::shared_ptr<detail::DeviceGraphPool> pool_;
};

/// A pool that nobody uses yet. Throws ebb::Error when there is no device.
EBB_API GraphPool graph_pool_handle();

/// What Graph::update() did.
struct GraphUpdate {
  bool in_place = false;  ///< the executable took the new arguments; else it was made anew
  std::string reason;     ///< why it was made anew; empty in place
};

/// Launches that were captured once and are replayed at the cost of a single launch: a whole training step,
/// for instance, whose kernels are shorter than their launches.
///
///     for (int i = 0; i < 3; ++i) step();        // makes gradients, optimizer state and libraries' plans
///     cuda::Graph graph;
///     graph.capture([&] { step(); });            // records; nothing is computed
///     for (auto& batch : *loader) {
///       input.copy_(batch.data);                 // in place: a graph reads and writes where it was captured
///       graph.replay();
///     }
///
/// What is captured are kernels and their arguments, so shapes, branches and numbers that the host computes
/// are those of the capture; only random numbers, and what optimizers count, go on from replay to replay as
/// they would without a graph. Memory allocated in a capture is the graph's own, or its pool's: it stays
/// where it is until the graph and the tensors in it are gone, and is overwritten by each replay. Tensors
/// from before the capture that it uses must outlive the graph.
///
/// A capture must not make the host wait for the device (item(), copies to the CPU, printing, synchronize()),
/// read memory of the CPU that is not pinned, nor run anything on a stream that is not the current one or
/// made to wait for it by an event; each is an ebb::Error, which ends the capture.
class EBB_API Graph {
 public:
  explicit Graph(Device device = Device(Device::CUDA));
  ~Graph();
  Graph(Graph&&) noexcept;
  Graph& operator=(Graph&&) noexcept;

  /// Captures what `step` does on the device, on a stream of the graph's own. An exception ends the capture
  /// and is thrown on; the graph is then as if never captured.
  void capture(const std::function<void()>& step);
  /// The same with memory that other graphs of the device share: graph_pool_handle(), or their pool().
  void capture(const std::function<void()>& step, const GraphPool& pool);
  /// The same in two calls, which the same thread makes.
  void capture_begin();
  void capture_begin(const GraphPool& pool);
  void capture_end();
  /// Captures again and puts the result in place of what was captured: for a step whose kernels stay, while
  /// addresses or numbers changed. Where nodes and their order are the same the executable takes the new
  /// arguments, which costs a fraction of making one; else one is made. Waits for the last replay. The memory
  /// is that of the same pool. When `step` throws, the graph is as before. Throws ebb::Error when nothing has
  /// been captured (cudaGraphExecUpdate).
  GraphUpdate update(const std::function<void()>& step);
  /// Runs what was captured on the device's current stream. Throws ebb::Error when there is nothing to run.
  void replay();
  /// The same on another stream of the device.
  void replay(const Stream& stream);
  /// Waits for the last replay and forgets what was captured; the graph can capture again.
  void reset();

  /// Whether there is something to replay.
  bool is_captured() const;
  Device device() const;
  /// The memory of what was captured, for other graphs. Throws ebb::Error when there is none.
  GraphPool pool() const;

 private:
  struct Impl;
  Impl& checked(const char* call) const;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ebb::cuda
