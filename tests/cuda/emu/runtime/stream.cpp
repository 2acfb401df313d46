// Streams and events. By default a stream runs its work immediately. With EBB_EMU_LAZY=1 it runs nothing
// before a caller waits, and then only the work that the wait needs. If an event between two streams is
// missing, the order is then wrong, and if the host reads a result too early, it is not there.
#include "cuda/emu/runtime/state.h"

#include <atomic>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace ebb::emu {
namespace {

constexpr std::size_t kMostQueued = 1024;  // a launch beyond this waits, as on a GPU

bool is_lazy() {
  static const bool lazy = [] {
    const char* value = std::getenv("EBB_EMU_LAZY");
    return value && std::string_view(value) == "1";
  }();
  return lazy;
}

struct Streams {
  std::recursive_mutex mutex;
  std::vector<CUstream_st*> all;
  std::map<int, CUstream_st*> defaults;  // by device
};

Streams& streams() {
  static Streams* const s = new Streams;  // outlives tensors in static storage
  return *s;
}

void run(const Work& work) {
  if (work.after) run_until(*work.after);
  if (!work.action) return;
  const DeviceAccess access;
  work.action();
}

void run_next(CUstream_st& stream) {
  const Work work = std::move(stream.queue.front());
  stream.queue.pop_front();
  run(work);
}

std::shared_ptr<Mark> mark_on(CUstream_st& stream) {
  auto mark = std::make_shared<Mark>(Mark{&stream});
  queue_work(stream, {[mark] {
                        mark->at = std::chrono::steady_clock::now();
                        mark->reached = true;
                      },
                      nullptr});
  return mark;
}

// An operation that is not allowed on a capturing stream; it invalidates the capture.
cudaError_t refuse_while_capturing(const CUstream_st& stream) {
  if (!stream.capture) return cudaSuccess;
  stream.capture->broken = true;
  return set_error(cudaErrorStreamCaptureUnsupported);
}

std::atomic<long> queries{0};

}  // namespace

long event_queries() { return queries; }

std::recursive_mutex& stream_mutex() { return streams().mutex; }

CUstream_st& stream_behind(cudaStream_t handle) {
  if (handle) return *handle;
  Streams& s = streams();
  const std::lock_guard lock(s.mutex);
  CUstream_st*& stream = s.defaults[current_device_index()];
  if (!stream) s.all.push_back(stream = new CUstream_st);
  return *stream;
}

void queue_work(CUstream_st& stream, Work work) {
  if (!is_lazy()) return run(work);
  stream.queue.push_back(std::move(work));
  if (stream.queue.size() > kMostQueued) run_all(stream);
}

void run_until(const Mark& mark) {
  while (!mark.reached) run_next(*mark.stream);
}
void run_all(CUstream_st& stream) {
  while (!stream.queue.empty()) run_next(stream);
}
void run_all() {
  Streams& s = streams();
  const std::lock_guard lock(s.mutex);
  for (CUstream_st* stream : s.all) run_all(*stream);
}

cudaError_t enqueue_action(cudaStream_t handle, std::function<void()> action, NodeType type) {
  if (const cudaError_t error = injected_error()) return error;
  if (!is_lazy() && !(handle && handle->capture)) {
    const DeviceAccess access;
    action();
    return cudaSuccess;
  }
  const std::lock_guard lock(stream_mutex());
  CUstream_st& stream = stream_behind(handle);
  if (stream.capture)
    capture_work(stream, std::move(action), type);
  else
    queue_work(stream, {std::move(action), nullptr});
  return cudaSuccess;
}

}  // namespace ebb::emu

using namespace ebb::emu;

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  if (const cudaError_t error = injected_error()) return error;
  const std::lock_guard lock(stream_mutex());
  streams().all.push_back(*stream = new CUstream_st);
  return cudaSuccess;
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int) {
  return cudaStreamCreateWithFlags(stream, flags);
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  const std::lock_guard lock(stream_mutex());
  run_all(*stream);
  std::erase(streams().all, stream);
  delete stream;
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t handle) {
  if (const cudaError_t error = injected_error()) return error;
  const std::lock_guard lock(stream_mutex());
  CUstream_st& stream = stream_behind(handle);
  if (const cudaError_t error = refuse_while_capturing(stream)) return error;
  run_all(stream);
  return cudaSuccess;
}
cudaError_t cudaStreamQuery(cudaStream_t handle) {
  const std::lock_guard lock(stream_mutex());
  CUstream_st& stream = stream_behind(handle);
  if (const cudaError_t error = refuse_while_capturing(stream)) return error;
  if (stream.queue.empty()) return cudaSuccess;
  run_next(stream);  // repeated queries make progress
  return set_error(cudaErrorNotReady);
}
cudaError_t cudaDeviceSynchronize() {
  if (const cudaError_t error = injected_error()) return error;
  {
    const std::lock_guard lock(stream_mutex());
    for (const CUstream_st* stream : streams().all)
      if (const cudaError_t error = refuse_while_capturing(*stream)) return error;
  }
  run_all();
  return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event, unsigned) {
  if (const cudaError_t error = injected_error()) return error;
  const std::lock_guard lock(stream_mutex());
  CUstream_st& stream = stream_behind(handle);
  if (event->captured) {
    const std::shared_ptr<Capturing> capture = event->capture.lock();
    if (!capture) return set_error(cudaErrorCapturedEvent);
    if (!handle || (stream.capture && stream.capture != capture))
      return set_error(cudaErrorStreamCaptureIsolation);
    if (!stream.capture) {
      stream.capture = capture;
      stream.capture->streams.push_back(&stream);
      stream.before.clear();
    }
    for (const auto& [other, last] : event->before) {
      std::size_t& known = stream.before[other];
      known = std::max(known, last);
    }
    return cudaSuccess;
  }
  if (!event->mark) return cudaSuccess;
  if (stream.capture) {
    stream.capture->broken = true;
    return set_error(cudaErrorStreamCaptureIsolation);
  }
  queue_work(stream, {nullptr, event->mark});
  return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  if (const cudaError_t error = injected_error()) return error;
  *event = new CUevent_st;
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t handle) {
  if (const cudaError_t error = injected_error()) return error;
  const std::lock_guard lock(stream_mutex());
  CUstream_st& stream = stream_behind(handle);
  event->captured = stream.capture != nullptr;
  event->capture = stream.capture;
  event->before = stream.before;
  event->mark = stream.capture ? nullptr : mark_on(stream);
  return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  ++queries;
  const std::lock_guard lock(stream_mutex());
  if (event->captured) return set_error(cudaErrorCapturedEvent);
  if (!event->mark || event->mark->reached) return cudaSuccess;
  run_next(*event->mark->stream);
  return event->mark->reached ? cudaSuccess : set_error(cudaErrorNotReady);
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  if (const cudaError_t error = injected_error()) return error;
  const std::lock_guard lock(stream_mutex());
  if (event->captured) return set_error(cudaErrorCapturedEvent);
  if (event->mark) run_until(*event->mark);
  return cudaSuccess;
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t from, cudaEvent_t to) {
  const std::lock_guard lock(stream_mutex());
  if (!from->mark || !to->mark) return set_error(cudaErrorInvalidValue);
  if (!from->mark->reached || !to->mark->reached) return set_error(cudaErrorNotReady);
  *milliseconds = std::chrono::duration<float, std::milli>(to->mark->at - from->mark->at).count();
  return cudaSuccess;
}
