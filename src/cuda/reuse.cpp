#include "cuda/reuse.h"

#include <algorithm>
#include <array>
#include <mutex>

#include "cuda/runtime.h"

namespace ebb::cuda {
namespace {

struct Events {
  std::mutex mutex;
  std::array<std::vector<cudaEvent_t>, kMaxDevices> idle;
};

// Never destroyed: tensors in static storage are freed after everything else.
Events& events() {
  static Events* const all = new Events;
  return *all;
}

}  // namespace

void add_use(StreamUses& uses, StreamUse use) {
  if (std::find(uses.begin(), uses.end(), use) == uses.end()) uses.push_back(use);
}

cudaEvent_t take_event(Device device) {
  {
    Events& all = events();
    const std::lock_guard lock(all.mutex);
    auto& idle = all.idle[static_cast<std::size_t>(device.index())];
    if (!idle.empty()) {
      const cudaEvent_t event = idle.back();
      idle.pop_back();
      return event;
    }
  }
  const DeviceScope scope(device);
  cudaEvent_t event = nullptr;
  check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreate");
  return event;
}

void give_event(Device device, cudaEvent_t event) noexcept {
  Events& all = events();
  const std::lock_guard lock(all.mutex);
  all.idle[static_cast<std::size_t>(device.index())].push_back(event);
}

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
    const DeviceScope scope(use_.device);  // default streams are those of the current device
    const cudaEvent_t event = take_event(use_.device);
    if (cudaEventRecord(event, use_.stream) == cudaSuccess) {
      event_ = event;
      return;
    }
    cudaGetLastError();
    give_event(use_.device, event);
  } catch (const Error&) {
    // The memory stays out of use until it works.
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
