// Streams and events: queues of a device's work, and marks in them (torch: c10::cuda::CUDAStream,
// at::cuda::CUDAEvent).
#pragma once

#include <ebb/core/device.h>

#include <cstdint>

namespace ebb::cuda {

class Event;

/// A queue of a device, by value. What is queued on one stream runs in order; streams among themselves have
/// none but what events give them. A tensor used on another stream than the one it was made on needs an event
/// between the two, and must outlive its use there, or be told of it (Variable::record_stream).
class EBB_API Stream {
 public:
  /// A stream of the device's pool of 32, in turn; `device` must be a CUDA device.
  static Stream from_pool(Device device = Device(Device::CUDA));
  /// The stream that everybody starts with.
  static Stream default_stream(Device device = Device(Device::CUDA));
  /// Where the calling thread's kernels of this device go.
  static Stream current(Device device = Device(Device::CUDA));

  Device device() const { return device_; }
  /// The cudaStream_t.
  void* handle() const { return handle_; }
  /// Waits for everything queued so far. Throws ebb::Error if any of it failed.
  void synchronize() const;
  /// Whether everything queued so far is done.
  bool query() const;
  /// What is queued here from now on starts after the event.
  void wait(const Event& event) const;
  /// What is queued here from now on starts after what is queued on `other` now; on any two devices.
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

/// Makes a stream the calling thread's current one of its device, for a lifetime.
class EBB_API StreamGuard {
 public:
  explicit StreamGuard(const Stream& stream);
  ~StreamGuard();
  StreamGuard(const StreamGuard&) = delete;
  StreamGuard& operator=(const StreamGuard&) = delete;

 private:
  Stream previous_;
};

/// A mark in a stream. Made on first record(), on the stream's device.
class EBB_API Event {
 public:
  /// With `timing`, elapsed_time() works and recording costs a little more.
  explicit Event(bool timing = false) : timing_(timing) {}
  ~Event();
  Event(Event&& other) noexcept;
  Event& operator=(Event&& other) noexcept;

  void record(const Stream& stream);
  /// Marks the current stream of the current device.
  void record() { record(Stream::current()); }
  /// What is queued on the stream from now on starts after the mark (as stream.wait(event)).
  void block(const Stream& stream) const { stream.wait(*this); }
  /// Waits until the mark is reached; at once if none was set.
  void synchronize() const;
  bool query() const;
  /// Milliseconds from this mark to a later one; both with timing and reached.
  float elapsed_time(const Event& later) const;
  void* handle() const { return handle_; }

 private:
  bool timing_;
  Device device_{Device::CUDA};
  void* handle_ = nullptr;
};

}  // namespace ebb::cuda
