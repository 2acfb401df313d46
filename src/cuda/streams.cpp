// CUDA streams and events: pools of streams, waits and elapsed times.
#include "cuda/reuse.h"
#include "cuda/runtime.h"

#include <array>
#include <mutex>
#include <utility>

namespace ebb::cuda {
namespace {

constexpr std::size_t kPoolStreams = 32;

struct Pool {
  std::array<cudaStream_t, kPoolStreams> streams{};
  std::size_t next = 0;
};

cudaStream_t queue(void* handle) { return static_cast<cudaStream_t>(handle); }
cudaEvent_t event_of(void* handle) { return static_cast<cudaEvent_t>(handle); }

// Returns true for cudaSuccess and false for cudaErrorNotReady. Throws for other statuses.
bool done(cudaError_t status, const char* what) {
  if (status == cudaErrorNotReady) {
    cudaGetLastError();
    return false;
  }
  check(status, what);
  return true;
}

}  // namespace

void* pool_stream(Device device) {
  static std::mutex mutex;
  static std::array<Pool, kMaxDevices> pools;  // streams exist as long as the process
  const std::lock_guard lock(mutex);
  Pool& pool = pools[static_cast<std::size_t>(device.index())];
  cudaStream_t& stream = pool.streams[pool.next++ % kPoolStreams];
  if (!stream) {
    const DeviceScope scope(device);
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
  }
  return stream;
}

void stream_synchronize(Device device, void* stream) {
  refuse_in_capture("the host waited for a stream");
  const DeviceScope scope(device);
  check(cudaStreamSynchronize(queue(stream)), "cudaStreamSynchronize");
  check_faults(device);
}

bool stream_query(Device device, void* stream) {
  refuse_in_capture("the host asked whether a stream is done");
  const DeviceScope scope(device);
  return done(cudaStreamQuery(queue(stream)), "cudaStreamQuery");
}

void stream_wait(Device device, void* stream, void* event) {
  const DeviceScope scope(device);
  check(cudaStreamWaitEvent(queue(stream), event_of(event), 0), "cudaStreamWaitEvent");
}

void* event_create(Device device, bool timing) {
  const DeviceScope scope(device);
  cudaEvent_t event = nullptr;
  check(cudaEventCreateWithFlags(&event, timing ? cudaEventDefault : cudaEventDisableTiming),
        "cudaEventCreate");
  return event;
}

void event_destroy(Device, void* event) noexcept { cudaEventDestroy(event_of(event)); }

void event_record(Device device, void* event, void* stream) {
  const DeviceScope scope(device);
  check(cudaEventRecord(event_of(event), queue(stream)), "cudaEventRecord");
}

void event_synchronize(Device device, void* event) {
  refuse_in_capture("the host waited for an event");
  check(cudaEventSynchronize(event_of(event)), "cudaEventSynchronize");
  check_faults(device);
}

bool event_query(Device, void* event) {
  refuse_in_capture("the host asked whether an event has passed");
  return done(cudaEventQuery(event_of(event)), "cudaEventQuery");
}

float event_elapsed(Device, void* from, void* to) {
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, event_of(from), event_of(to)), "cudaEventElapsedTime");
  return milliseconds;
}

void order_streams(Device first_device, void* first, Device second_device, void* second) {
  if (first == second && first_device == second_device) return;
  const cudaEvent_t event = take_event(first_device);
  const auto each = [&](Device device, auto call) {
    const DeviceScope scope(device);
    const cudaError_t error = call();
    if (error != cudaSuccess) give_event(first_device, event);
    EBB_CHECK(error != cudaErrorStreamCaptureIsolation,
              "cuda::Graph: work that is captured would wait for work outside of the capture, for example "
              "backward() for a forward pass that is not captured. Capture both in one graph.");
    check(error, "an event between two streams");
  };
  each(first_device, [&] { return cudaEventRecord(event, queue(first)); });
  each(second_device, [&] { return cudaStreamWaitEvent(queue(second), event, 0); });
  // The queued wait refers to the recording above even if the event is recorded again, so the event can be
  // reused.
  give_event(first_device, event);
}

void allow_peer_access(Device a, Device b) {
  static std::mutex mutex;
  static std::array<std::array<bool, kMaxDevices>, kMaxDevices> asked{};
  const std::lock_guard lock(mutex);
  for (const auto& [from, to] : {std::pair(a, b), std::pair(b, a)}) {
    bool& known = asked[static_cast<std::size_t>(from.index())][static_cast<std::size_t>(to.index())];
    if (std::exchange(known, true)) continue;
    int can = 0;
    const DeviceScope scope(from);
    if (cudaDeviceCanAccessPeer(&can, from.index(), to.index()) == cudaSuccess && can)
      cudaDeviceEnablePeerAccess(to.index(), 0);
    cudaGetLastError();  // ignored: without peer access the driver copies through the host
  }
}

}  // namespace ebb::cuda
