// The bytes under one or more tensors.
#pragma once

#include <ebb/core/device.h>
#include <ebb/core/ref.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace ebb {

/// Bytes on a device, counted, with the version counter that in-place ops bump. The counter lives here, not
/// in the tensor, so that views and detach() share it and a write through any alias is noticed by backward.
class EBB_API Storage : public RefCounted<Storage> {
 public:
  using Deleter = void (*)(void* context, void* data);

  /// Uninitialised bytes from the device's caching allocator, aligned to 64; zero bytes are allowed.
  static Ref<Storage> allocate(std::size_t bytes, Device device);
  /// Page-locked bytes of the CPU, which a device reads and writes on its own; throws without a CUDA device.
  static Ref<Storage> allocate_pinned(std::size_t bytes);
  /// Borrowed bytes; `deleter(context, data)` runs when the last tensor on them is gone. `deleter` may be
  /// null.
  static Ref<Storage> adopt(void* data, std::size_t bytes, Device device, Deleter deleter, void* context);
  /// The bytes of another, with a version counter of its own: writes through one go unnoticed by the other.
  static Ref<Storage> alias(const Ref<Storage>& other);

  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  Device device() const { return device_; }
  bool is_pinned() const;
  /// Whether both are of the same bytes.
  bool is_alias_of(const Storage& other) const {
    return this == &other || (bytes_ > 0 && data_ == other.data_ && device_ == other.device_);
  }
  /// A stream of `device` uses the bytes, which are then not handed out again before what is queued there
  /// when they are freed is done. For device and pinned memory; nothing for borrowed bytes.
  void used_on(Device device, void* stream) const;
  std::uint32_t version() const { return version_.load(std::memory_order_relaxed); }
  void bump_version() { version_.fetch_add(1, std::memory_order_relaxed); }

  /// Borrowed bytes elsewhere, for a storage made by adopt() without a deleter: whoever holds it sees those.
  void move_to(void* data) { data_ = data; }

  static void destroy(Storage* storage) noexcept;

 private:
  Storage(void* data, std::size_t bytes, Device device) : device_(device), data_(data), bytes_(bytes) {}

  std::atomic<std::uint32_t> version_{0};
  Device device_;
  std::uint8_t kind_ = 0;  // who frees data_: see storage.cpp
  void* data_;
  std::size_t bytes_;
  Deleter deleter_ = nullptr;
  void* context_ = nullptr;
  std::size_t block_bytes_ = 0;
};

}  // namespace ebb
