// cuda::Graph: captured device work that is replayed as a whole (torch.cuda.CUDAGraph).
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

/// Memory that several graphs share. It is a value type: copies refer to the same pool, which exists until
/// all copies and all graphs that use it are destroyed. Later captures reuse memory that an earlier capture
/// freed. The graphs of a pool must therefore be replayed in the order of their capture. To protect a tensor
/// of an earlier graph, hold it until the last graph that must not overwrite it is captured. Replays of
/// graphs of the same pool wait for each other, on any stream (torch.cuda.graph_pool_handle).
class EBB_API GraphPool {
 public:
  friend bool operator==(const GraphPool& a, const GraphPool& b) { return a.pool_ == b.pool_; }

 private:
  friend class Graph;
  friend EBB_API GraphPool graph_pool_handle();
  explicit GraphPool(std::shared_ptr<detail::DeviceGraphPool> pool) : pool_(std::move(pool)) {}
  std::shared_ptr<detail::DeviceGraphPool> pool_;
};

/// Returns a new, unused pool. Throws ebb::Error if there is no device.
EBB_API GraphPool graph_pool_handle();

/// The result of Graph::update().
struct GraphUpdate {
  bool in_place = false;  ///< true if the existing executable graph got the new arguments
  std::string reason;     ///< the reason why the executable graph was built again; empty if in_place
};

/// Kernel launches that are captured once and replayed at the cost of a single launch. An example is a whole
/// training step whose kernels are shorter than their launches.
///
///     for (int i = 0; i < 3; ++i) step();        // allocates gradients, optimizer state, plans
///     cuda::Graph graph;
///     graph.capture([&] { step(); });            // records; nothing is computed
///     for (auto& batch : *loader) {
///       input.copy_(batch.data);                 // in place: a graph uses the addresses of its capture
///       graph.replay();
///     }
///
/// A graph contains kernels and their arguments. Shapes, branches and values computed by the host do not
/// change after the capture. Only random numbers and the step counts of optimizers advance from replay to
/// replay, as they do without a graph. Memory allocated in a capture belongs to the graph or its pool. Its
/// address does not change until the graph and its tensors are destroyed, and each replay overwrites it.
/// Older tensors that the graph uses must outlive it.
///
/// A capture must not make the host wait for the device (item(), copies to the CPU, printing, synchronize()).
/// It must not read CPU memory that is not pinned. It must not use a stream other than the current one,
/// unless that stream waits for the current one by an event. Each of these throws ebb::Error, which ends the
/// capture.
class EBB_API Graph {
 public:
  explicit Graph(Device device = Device(Device::CUDA));
  ~Graph();
  Graph(Graph&&) noexcept;
  Graph& operator=(Graph&&) noexcept;

  /// Captures the work of `step` on the device, on a stream that belongs to the graph. An exception ends the
  /// capture and is rethrown; the graph is then empty.
  void capture(const std::function<void()>& step);
  /// Captures into memory that other graphs of the device share: graph_pool_handle(), or the pool() of
  /// another graph.
  void capture(const std::function<void()>& step, const GraphPool& pool);
  /// Captures in two calls, both on the same thread.
  void capture_begin();
  void capture_begin(const GraphPool& pool);
  void capture_end();
  /// Captures again and replaces the captured work, for a step with the same kernels but new addresses or
  /// values. If the nodes and their order are the same, the existing executable graph gets the new arguments,
  /// which is much cheaper than building an executable graph. Otherwise the executable graph is built again.
  /// update() waits for the last replay, and uses memory of the same pool. If `step` throws, the graph does
  /// not change. Throws ebb::Error if nothing has been captured (cudaGraphExecUpdate).
  GraphUpdate update(const std::function<void()>& step);
  /// Runs the captured work on the device's current stream. Throws ebb::Error if nothing has been captured.
  void replay();
  /// Runs the captured work on another stream of the device.
  void replay(const Stream& stream);
  /// Waits for the last replay and frees the captured work. The graph can capture again.
  void reset();

  /// Returns whether captured work exists.
  bool is_captured() const;
  Device device() const;
  /// Returns the memory pool of the captured work, for other graphs. Throws ebb::Error if nothing has been
  /// captured.
  GraphPool pool() const;

 private:
  struct Impl;
  Impl& checked(const char* call) const;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ebb::cuda
