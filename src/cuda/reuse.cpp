// Events that tell when memory used on several streams may be reused.
#include "cuda/reuse.h"

#include "cuda/device_pool.h"

#include <algorithm>

namespace ebb::cuda {
namespace {

// Never destroyed: tensors in static variables are freed last.
DevicePool<cudaEvent_t>& events() {
  static auto* const all = new DevicePool<cudaEvent_t>;
  return *all;
}

}  // namespace

void add_use(StreamUses& uses, StreamUse use) {
  if (std::find(uses.begin(), uses.end(), use) == uses.end()) uses.push_back(use);
}

cudaEvent_t take_event(Device device) {
  return events().take(device, [] {
    cudaEvent_t event = nullptr;
    check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreate");
    return event;
  });
}

void give_event(Device device, cudaEvent_t event) noexcept { events().give(device, event); }

StreamMark::~StreamMark() {
  if (event_) give_event(use_.device, event_);
}

void StreamMark::record() noexcept {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  if (cudaStreamIsCapturing(use_.stream, &status) != cudaSuccess) {
    cudaGetLastError();
    return;
  }
  if (status != cudaStreamCaptureStatusNone) return;
  try {
    const DeviceScope scope(use_.device);  // default streams belong to the current device
    const cudaEvent_t event = take_event(use_.device);
    if (cudaEventRecord(event, use_.stream) == cudaSuccess) {
      event_ = event;
      return;
    }
    cudaGetLastError();
    give_event(use_.device, event);
  } catch (const Error&) {
    // The mark remains without an event. The memory is not reused until a later call of record() succeeds.
  }
}

bool StreamMark::passed(bool wait) noexcept {
  if (!event_) record();
  if (!event_) return false;
  if ((wait ? cudaEventSynchronize(event_) : cudaEventQuery(event_)) == cudaSuccess) return true;
  cudaGetLastError();
  return false;
}

}  // namespace ebb::cuda
