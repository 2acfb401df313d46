// Guards of the current CUDA device and stream.
#pragma once

#include <ebb/core/array_ref.h>
#include <ebb/cuda/device.h>

#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAStream.h>

#include <vector>

namespace ebb::cuda {

/// Sets the current device for a scope. set_device() and set_index() change the device again within the
/// scope.
class CUDAGuard {
 public:
  explicit CUDAGuard(std::int64_t device_index) : CUDAGuard(Device(Device::CUDA, device_index)) {}
  explicit CUDAGuard(Device device)
      : original_(Device::CUDA, cuda::current_device()), current_(device), guard_(device) {}

  void set_device(Device device) {
    cuda::set_device(device.index());
    current_ = device;
  }
  void reset_device(Device device) { set_device(device); }
  void set_index(std::int64_t device_index) { set_device(Device(Device::CUDA, device_index)); }
  Device original_device() const { return original_; }
  Device current_device() const { return current_; }

 private:
  Device original_, current_;
  DeviceGuard guard_;
};

/// A CUDAGuard that begins when a device is set.
class OptionalCUDAGuard {
 public:
  OptionalCUDAGuard() = default;
  explicit OptionalCUDAGuard(optional<Device> device) {
    if (device) set_device(*device);
  }
  explicit OptionalCUDAGuard(optional<std::int64_t> device_index) {
    if (device_index) set_index(*device_index);
  }

  void set_device(Device device) {
    if (guard_)
      guard_->set_device(device);
    else
      guard_.emplace(device);
  }
  void reset_device(Device device) { set_device(device); }
  void set_index(std::int64_t device_index) { set_device(Device(Device::CUDA, device_index)); }
  optional<Device> original_device() const {
    return guard_ ? optional<Device>(guard_->original_device()) : nullopt;
  }
  /// Restores the previous device.
  void reset() { guard_.reset(); }

 private:
  optional<CUDAGuard> guard_;
};

/// Sets the current stream and its device for a scope.
class CUDAStreamGuard {
 public:
  explicit CUDAStreamGuard(const Stream& stream)
      : original_(Stream::current()),
        current_(stream),
        device_(stream.device()),
        guard_(std::in_place, stream) {}

  void reset_stream(const Stream& stream) {
    guard_.reset();
    device_.set_device(stream.device());
    guard_.emplace(stream);
    current_ = stream;
  }
  CUDAStream original_stream() const { return original_; }
  CUDAStream current_stream() const { return current_; }
  Device original_device() const { return device_.original_device(); }
  Device current_device() const { return current_.device(); }

 private:
  CUDAStream original_, current_;
  CUDAGuard device_;
  optional<StreamGuard> guard_;
};

/// A CUDAStreamGuard that begins when a stream is set.
class OptionalCUDAStreamGuard {
 public:
  OptionalCUDAStreamGuard() = default;
  explicit OptionalCUDAStreamGuard(const Stream& stream) : guard_(std::in_place, stream) {}
  explicit OptionalCUDAStreamGuard(const optional<Stream>& stream) {
    if (stream) guard_.emplace(*stream);
  }

  void reset_stream(const Stream& stream) {
    if (guard_)
      guard_->reset_stream(stream);
    else
      guard_.emplace(stream);
  }
  void reset() { guard_.reset(); }

 private:
  optional<CUDAStreamGuard> guard_;
};

}  // namespace ebb::cuda
