// CUDA graphs: capture, update and replay, and the memory pools that graphs share.
#include "cuda/captured_graph.h"

#include "core/capture.h"
#include "cuda/device_pool.h"
#include "cuda/memory.h"
#include "cuda/runtime.h"

namespace ebb::cuda {
namespace {

// The streams on which graphs are captured. They are reused and never destroyed, because a recorded node may
// refer to its stream after the graph is destroyed.
DevicePool<cudaStream_t>& capture_streams() {
  static auto* const streams = new DevicePool<cudaStream_t>;
  return *streams;
}

}  // namespace

std::uint64_t GraphPoolMemory::next_id() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

GraphPoolMemory::~GraphPoolMemory() {
  for (auto& allocator : allocators_)
    if (allocator) CachingAllocator::retire(std::move(allocator));
  for (std::size_t i = 0; i < streams_.size(); ++i)
    if (streams_[i]) capture_streams().give(Device(kCUDA, static_cast<std::int64_t>(i)), streams_[i]);
}

CachingAllocator& GraphPoolMemory::on(Device device) {
  auto& allocator = allocators_[static_cast<std::size_t>(device.index())];
  if (!allocator) allocator = make_graph_allocator(device, id_);
  return *allocator;
}

cudaStream_t GraphPoolMemory::begin_capture(Device device) {
  EBB_CHECK(!capturing_.exchange(true),
            "cuda::Graph: another graph is being captured in this pool. Let one capture end before the next "
            "begins, or use a pool for each.");
  cudaStream_t& stream = streams_[static_cast<std::size_t>(device.index())];
  try {
    if (!stream)
      stream = capture_streams().take(device, [] {
        cudaStream_t made = nullptr;
        check(cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking), "cudaStreamCreate");
        return made;
      });
  } catch (...) {
    end_capture();
    throw;
  }
  return stream;
}

namespace {

void check_captured(cudaError_t error, const char* what) {
  if (error == cudaSuccess) [[likely]]
    return;
  if (error == cudaErrorStreamCaptureUnjoined) {
    cudaGetLastError();
    ebb::detail::fail(
        "cuda::Graph: the capture ended while another stream still had captured work. Record an event on "
        "that "
        "stream, and let Stream::current() wait for it before the capture ends.");
  }
  check(error, what);
}

// Returns the reason why the executable graph could not be updated from a capture.
const char* why_not_updated(cudaGraphExecUpdateResult result) {
  switch (result) {
    case cudaGraphExecUpdateErrorTopologyChanged:
      return "the nodes or their order differ";
    case cudaGraphExecUpdateErrorNodeTypeChanged:
      return "a node has another type";
    default:
      return "a node has a change that cannot be updated";
  }
}

// A graph that is destroyed unless it is released.
struct HeldGraph {
  cudaGraph_t graph = nullptr;
  HeldGraph() = default;
  HeldGraph(HeldGraph&& other) noexcept : graph(std::exchange(other.graph, nullptr)) {}
  ~HeldGraph() {
    if (graph) cudaGraphDestroy(graph);
  }
};

class CapturedGraph final : public ebb::detail::DeviceGraph {
 public:
  explicit CapturedGraph(Device device) : device_(device) {}
  ~CapturedGraph() override { discard(); }

  void begin(ebb::detail::Capture* capture, std::shared_ptr<ebb::detail::DeviceGraphPool> pool) override {
    ThreadState& state = thread_state();
    before_ = state;
    before_.device = current_device_index();
    auto memory = std::make_unique<GraphMemory>(std::static_pointer_cast<GraphPoolMemory>(std::move(pool)));
    set_current_device(static_cast<int>(device_.index()));
    try {
      stream_ = memory->pool().begin_capture(device_);
      // Relaxed mode lets the allocator and the libraries request memory from the driver. refuse_in_capture()
      // and current_stream() reject calls that must not be captured.
      const cudaError_t error = cudaStreamBeginCapture(stream_, cudaStreamCaptureModeRelaxed);
      if (error != cudaSuccess) memory->pool().end_capture();
      check(error, "cudaStreamBeginCapture");
    } catch (...) {
      set_current_device(before_.device);
      throw;
    }
    count_capture(device_, +1);
    recording_ = {capture, std::move(memory)};
    state.streams[static_cast<std::size_t>(device_.index())] = stream_;
    state.capture = recording_.memory.get();
  }

  void end() override {
    const HeldGraph held = captured();
    try {
      instantiate(held.graph);
    } catch (...) {
      discard();
      throw;
    }
    recorded_ = std::exchange(recording_, {});
  }

  cuda::GraphUpdate end_update() override {
    const HeldGraph held = captured();
    wait_for_replay();  // the memory that the old recording owns may still be read
    const DeviceScope scope(device_);
    cudaGraphExecUpdateResultInfo info{};
    const cudaError_t updated = cudaGraphExecUpdate(exec_, held.graph, &info);
    cuda::GraphUpdate done{updated == cudaSuccess, {}};
    if (!done.in_place) {
      cudaGetLastError();
      try {
        cudaGraphExecDestroy(std::exchange(exec_, nullptr));  // some of its nodes may have been updated
        if (updated != cudaErrorGraphExecUpdateFailure) check(updated, "cudaGraphExecUpdate");
        instantiate(held.graph);
      } catch (...) {
        discard();
        throw;
      }
      done.reason = why_not_updated(info.result);
    }
    replayed_ = false;
    recorded_ = std::exchange(recording_, {});
    return done;
  }

  bool is_ready() const override { return exec_ != nullptr; }

  void abandon() noexcept override {
    HeldGraph held;
    if (recording_.memory) stop(held.graph);
    recording_ = {};
  }

  void discard() noexcept override {
    abandon();
    if (exec_) {
      wait_for_replay();
      cudaGraphExecDestroy(std::exchange(exec_, nullptr));
      cudaGetLastError();
    }
    replayed_ = false;
    recorded_ = {};
  }

  void replay(void* handle) override {
    const auto stream = static_cast<cudaStream_t>(handle);
    const DeviceScope scope(device_);
    // prepare() writes to device memory on this stream. These writes must follow all uses of this memory that
    // were queued on the default stream before the capture, and all earlier replays. The pool's launch order
    // ensures that they follow the replays.
    if (!replayed_) order_streams(device_, nullptr, device_, stream);
    struct StreamScope {
      Device device;
      cudaStream_t previous;
      ~StreamScope() { set_current_stream(device, previous); }
    } restore{device_, stream_of(device_)};
    set_current_stream(device_, stream);
    recorded_.memory->pool().in_order(device_, stream, [&] {
      recorded_.capture->prepare();
      check(cudaGraphLaunch(exec_, stream), "cudaGraphLaunch");
    });
    last_ = stream;
    replayed_ = true;
  }

 private:
  struct Recording {
    ebb::detail::Capture* capture = nullptr;
    std::unique_ptr<GraphMemory> memory;
  };

  // Ends the capture and restores the thread's state.
  cudaError_t stop(cudaGraph_t& graph) noexcept {
    ThreadState& state = thread_state();
    if (state.capture != recording_.memory.get()) return cudaSuccess;  // the capture has already ended
    state.capture = nullptr;
    state.streams = before_.streams;
    const cudaError_t error = cudaStreamEndCapture(stream_, &graph);
    count_capture(device_, -1);
    recording_.memory->pool().end_capture();
    if (error != cudaSuccess) cudaGetLastError();
    if (state.device != before_.device && cudaSetDevice(before_.device) == cudaSuccess)
      state.device = before_.device;
    return error;
  }

  // Ends the capture and returns its graph. If the capture failed, drops the recording and throws.
  HeldGraph captured() {
    HeldGraph held;
    const cudaError_t ended = stop(held.graph);
    if (ended != cudaSuccess) recording_ = {};
    check_captured(ended, "the capture of a graph");
    return held;
  }

  void instantiate(cudaGraph_t graph) {
    const DeviceScope scope(device_);
    check(cudaGraphInstantiate(&exec_, graph, 0), "cudaGraphInstantiate");
  }

  void wait_for_replay() noexcept {
    if (!replayed_) return;
    try {
      const DeviceScope scope(device_);  // default streams belong to the current device
      cudaStreamSynchronize(last_);
    } catch (const Error&) {
      // The device is lost, so nothing runs on the device any more.
    }
  }

  Device device_;
  cudaStream_t stream_ = nullptr;  // stream of the current capture
  ThreadState before_;
  Recording recording_, recorded_;
  cudaGraphExec_t exec_ = nullptr;
  cudaStream_t last_ = nullptr;  // the stream of the last replay
  bool replayed_ = false;
};

}  // namespace

std::unique_ptr<ebb::detail::DeviceGraph> make_graph(Device device) {
  return std::make_unique<CapturedGraph>(device);
}
std::shared_ptr<ebb::detail::DeviceGraphPool> make_graph_pool() {
  return std::make_shared<GraphPoolMemory>();
}

}  // namespace ebb::cuda
