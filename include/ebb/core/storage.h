// Storage: the memory of one or more tensors.
#pragma once

#include <ebb/core/device.h>
#include <ebb/core/ref.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace ebb {

/// A reference-counted block of bytes on a device, with the version counter of in-place ops. The counter is
/// stored here and not in the tensor, so that views and detach() share it and backward detects a write
/// through any alias.
class EBB_API Storage : public RefCounted<Storage> {
 public:
  using Deleter = void (*)(void* context, void* data);

  /// Allocates uninitialised bytes, aligned to 64, from the device's caching allocator. `bytes` may be 0.
  static Ref<Storage> allocate(std::size_t bytes, Device device);
  /// Allocates page-locked CPU memory, which a device accesses directly. Throws without a CUDA device.
  static Ref<Storage> allocate_pinned(std::size_t bytes);
  /// Wraps borrowed bytes. `deleter(context, data)` runs when the last tensor on them is destroyed; `deleter`
  /// may be null.
  static Ref<Storage> adopt(void* data, std::size_t bytes, Device device, Deleter deleter, void* context);
  /// Wraps the bytes of `other` with a version counter of its own, which begins at `version`. A write through
  /// one storage does not increment the counter of the other.
  static Ref<Storage> alias(const Ref<Storage>& other, std::uint32_t version = 0);

  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  Device device() const { return device_; }
  bool is_pinned() const;
  /// Returns whether this storage and `other` refer to the same bytes.
  bool is_alias_of(const Storage& other) const {
    return this == &other || (bytes_ > 0 && data_ == other.data_ && device_ == other.device_);
  }
  /// Returns whether one storage owns the bytes of both this storage and `other`: one is an alias of the
  /// other, or both are aliases of a third.
  bool has_same_owner(const Storage& other) const { return owner() == other.owner(); }
  /// Records that a stream of `device` uses the bytes. Freed bytes are reused only when all work that was
  /// queued on the stream before the free is done. Applies to device memory and pinned memory; does nothing
  /// for borrowed bytes.
  void used_on(Device device, void* stream) const;
  std::uint32_t version() const { return version_.load(std::memory_order_relaxed); }
  void bump_version() { version_.fetch_add(1, std::memory_order_relaxed); }
  /// Sets the version counter of a storage that only one tensor uses.
  void set_version(std::uint32_t version) { version_.store(version, std::memory_order_relaxed); }

  /// Replaces the borrowed bytes of a storage made by adopt() without a deleter, for all its tensors.
  void move_to(void* data) { data_ = data; }

  static void destroy(Storage* storage) noexcept;

 private:
  const Storage* owner() const;
  Storage(void* data, std::size_t bytes, Device device) : device_(device), data_(data), bytes_(bytes) {}

  std::atomic<std::uint32_t> version_{0};
  Device device_;
  std::uint8_t kind_ = 0;  // identifies the owner of data_: see storage.cpp
  void* data_;
  std::size_t bytes_;
  Deleter deleter_ = nullptr;
  void* context_ = nullptr;
  std::size_t block_bytes_ = 0;
};

}  // namespace ebb
