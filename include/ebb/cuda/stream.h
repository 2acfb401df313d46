// Streams and events: queues of device work, and markers in them (torch: c10::cuda::CUDAStream,
// at::cuda::CUDAEvent).
#pragma once

#include <ebb/core/device.h>

#include <cstdint>

namespace ebb::cuda {

class Event;

/// A queue of device work; a value type. Work on the same stream runs in order. Work on different streams is
/// only ordered by events. If a tensor is used on a stream that did not compute it, an event must order the
/// two uses. The tensor must also outlive its use on that stream, unless Variable::record_stream is called.
class EBB_API Stream {
 public:
  /// Returns one of the 32 streams of the device's pool, in turn. `device` must be a CUDA device.
  static Stream from_pool(Device device = Device(Device::CUDA));
  /// Returns the default stream, which is current at the start of each thread.
  static Stream default_stream(Device device = Device(Device::CUDA));
  /// Returns the stream on which the calling thread's kernels of this device run.
  static Stream current(Device device = Device(Device::CUDA));

  Device device() const { return device_; }
  /// Returns the cudaStream_t.
  void* handle() const { return handle_; }
  /// Waits for all work queued so far. Throws ebb::Error if any of it failed.
  void synchronize() const;
  /// Returns whether all work queued so far is done.
  bool query() const;
  /// Makes work queued from now on start after the event.
  void wait(const Event& event) const;
  /// Makes work queued from now on start after the work queued on `other` so far. Both may be on any device.
  void wait(const Stream& other) const;

  friend bool operator==(const Stream& a, const Stream& b) {
    return a.device_ == b.device_ && a.handle_ == b.handle_;
  }

 private:
  friend class StreamGuard;
  Stream(Device device, void* handle) : device_(device), handle_(handle) {}
  Device device_;
  void* handle_;
};

/// Makes a stream the calling thread's current stream of its device, for a scope.
class EBB_API StreamGuard {
 public:
  explicit StreamGuard(const Stream& stream);
  ~StreamGuard();
  StreamGuard(const StreamGuard&) = delete;
  StreamGuard& operator=(const StreamGuard&) = delete;

 private:
  Stream previous_;
};

/// A marker in a stream. The first record() creates it on the stream's device.
class EBB_API Event {
 public:
  /// With `timing`, elapsed_time() works, and record() costs slightly more.
  explicit Event(bool timing = false) : timing_(timing) {}
  ~Event();
  Event(Event&& other) noexcept;
  Event& operator=(Event&& other) noexcept;

  void record(const Stream& stream);
  /// Records the event on the current stream of the current device.
  void record() { record(Stream::current()); }
  /// Makes work queued on `stream` from now on start after the event, as stream.wait(event) does.
  void block(const Stream& stream) const { stream.wait(*this); }
  /// Waits until the event is reached. Returns immediately if it was never recorded.
  void synchronize() const;
  bool query() const;
  /// Returns the milliseconds from this event to a later one. Both need timing and must have been reached.
  float elapsed_time(const Event& later) const;
  void* handle() const { return handle_; }

 private:
  bool timing_;
  Device device_{Device::CUDA};
  void* handle_ = nullptr;
};

}  // namespace ebb::cuda
