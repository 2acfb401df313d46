// Capture and replay.
#include "cuda/device_pool.h"
#include "cuda/graph_memory.h"
#include "cuda/streams.h"
#include "device/capture.h"

namespace ebb::cuda {
namespace {

// Streams that graphs capture on. A recorded node may name one after its graph is gone, so they are lent
// again.
DevicePool<cudaStream_t>& capture_streams() {
  static auto* const streams = new DevicePool<cudaStream_t>;
  return *streams;
}
cudaStream_t take_capture_stream(Device device) {
  return capture_streams().take(device, [] {
    cudaStream_t stream = nullptr;
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
    return stream;
  });
}

void check_captured(cudaError_t error, const char* what) {
  if (error == cudaSuccess) [[likely]]
    return;
  if (error == cudaErrorStreamCaptureUnjoined) {
    cudaGetLastError();
    ebb::detail::fail(
        "cuda::Graph: the capture ended while another stream was still working for it. Record an event there "
        "at "
        "its end and let Stream::current() wait for it before the capture ends.");
  }
  check(error, what);
}

class CapturedGraph final : public ebb::detail::DeviceGraph {
 public:
  explicit CapturedGraph(Device device) : device_(device), stream_(take_capture_stream(device)) {}
  ~CapturedGraph() override {
    discard();
    capture_streams().give(device_, stream_);
  }

  void begin(ebb::detail::Capture* capture) override {
    ThreadState& state = thread_state();
    before_ = state;
    before_.device = current_device_index();
    set_current_device(device_.index());
    // Relaxed: the allocator and the libraries may ask the driver for memory. What must not be captured is
    // refused by refuse_in_capture() and current_stream().
    const cudaError_t error = cudaStreamBeginCapture(stream_, cudaStreamCaptureModeRelaxed);
    if (error != cudaSuccess) set_current_device(before_.device);
    check(error, "cudaStreamBeginCapture");
    count_capture(device_, +1);
    memory_ = std::make_unique<GraphMemory>();
    capture_ = capture;
    state.streams[static_cast<std::size_t>(device_.index())] = stream_;
    state.capture = memory_.get();
  }

  void end() override {
    const cudaError_t ended = stop();
    cudaGraph_t graph = ended == cudaSuccess ? std::exchange(graph_, nullptr) : nullptr;
    try {
      check_captured(ended, "the capture of a graph");
      const DeviceScope scope(device_);
      const cudaError_t made = cudaGraphInstantiate(&exec_, graph, 0);
      cudaGraphDestroy(graph);
      check(made, "cudaGraphInstantiate");
    } catch (...) {
      discard();
      throw;
    }
  }

  void discard() noexcept override {
    if (thread_state().capture == memory_.get() && memory_) stop();
    if (graph_) cudaGraphDestroy(std::exchange(graph_, nullptr));
    if (exec_) {
      if (replayed_) wait_for_replay();
      cudaGraphExecDestroy(std::exchange(exec_, nullptr));
      cudaGetLastError();
    }
    replayed_ = false;
    capture_ = nullptr;
    memory_.reset();
  }

  void replay(void* handle) override {
    const auto stream = static_cast<cudaStream_t>(handle);
    const DeviceScope scope(device_);
    // What the host prepares must not overtake an earlier replay that still reads it, nor, the first time,
    // what the default stream did with that memory before the capture.
    order_streams(device_, replayed_ ? last_ : nullptr, device_, stream);
    struct StreamScope {
      Device device;
      cudaStream_t previous;
      ~StreamScope() { set_current_stream(device, previous); }
    } restore{device_, stream_of(device_)};
    set_current_stream(device_, stream);
    capture_->prepare();
    check(cudaGraphLaunch(exec_, stream), "cudaGraphLaunch");
    last_ = stream;
    replayed_ = true;
  }

 private:
  // Ends the capture and gives the thread back what it had.
  cudaError_t stop() noexcept {
    ThreadState& state = thread_state();
    state.capture = nullptr;
    state.streams = before_.streams;
    const cudaError_t error = cudaStreamEndCapture(stream_, &graph_);
    count_capture(device_, -1);
    if (error != cudaSuccess) cudaGetLastError();
    if (state.device != before_.device && cudaSetDevice(before_.device) == cudaSuccess)
      state.device = before_.device;
    return error;
  }

  void wait_for_replay() noexcept {
    try {
      const DeviceScope scope(device_);  // default streams are those of the current device
      cudaStreamSynchronize(last_);
    } catch (const Error&) {
      // The device is lost, and nothing runs on it.
    }
  }

  Device device_;
  cudaStream_t stream_;
  ThreadState before_;
  std::unique_ptr<GraphMemory> memory_;
  ebb::detail::Capture* capture_ = nullptr;
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t exec_ = nullptr;
  cudaStream_t last_ = nullptr;  // where it was replayed last
  bool replayed_ = false;
};

}  // namespace

std::unique_ptr<ebb::detail::DeviceGraph> make_graph(Device device) {
  return std::make_unique<CapturedGraph>(device);
}

}  // namespace ebb::cuda
