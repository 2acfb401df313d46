#include "cuda/streams.h"

#include <array>
#include <mutex>

#include "cuda/runtime.h"

namespace ebb::cuda {
namespace {

constexpr std::size_t kPoolStreams = 32;

struct Pool {
  std::array<cudaStream_t, kPoolStreams> streams{};
  std::size_t next = 0;
};

cudaStream_t stream_of(void* handle) { return static_cast<cudaStream_t>(handle); }
cudaEvent_t event_of(void* handle) { return static_cast<cudaEvent_t>(handle); }

// cudaErrorNotReady is an answer and no error.
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
  static std::array<Pool, kMaxDevices> pools;  // streams live as long as the process
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
  const DeviceScope scope(device);
  check(cudaStreamSynchronize(stream_of(stream)), "cudaStreamSynchronize");
  check_faults(device);
}

bool stream_query(Device device, void* stream) {
  const DeviceScope scope(device);
  return done(cudaStreamQuery(stream_of(stream)), "cudaStreamQuery");
}

void stream_wait(Device device, void* stream, void* event) {
  const DeviceScope scope(device);
  check(cudaStreamWaitEvent(stream_of(stream), event_of(event), 0), "cudaStreamWaitEvent");
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
  check(cudaEventRecord(event_of(event), stream_of(stream)), "cudaEventRecord");
}

void event_synchronize(Device device, void* event) {
  check(cudaEventSynchronize(event_of(event)), "cudaEventSynchronize");
  check_faults(device);
}

bool event_query(Device, void* event) { return done(cudaEventQuery(event_of(event)), "cudaEventQuery"); }

float event_elapsed(Device, void* from, void* to) {
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, event_of(from), event_of(to)), "cudaEventElapsedTime");
  return milliseconds;
}

}  // namespace ebb::cuda
