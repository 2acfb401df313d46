// StorageHandle: the memory of a tensor, as x.storage() returns it.
#pragma once

#include <ebb/core/ndarray.h>

#include <utility>

namespace ebb {

/// The address of a storage's first byte (torch: at::DataPtr, without its ownership).
class DataPtr {
 public:
  DataPtr(void* data, Device device) : data_(data), device_(device) {}
  void* get() const { return data_; }
  Device device() const { return device_; }
  explicit operator bool() const { return data_ != nullptr; }

 private:
  void* data_;
  Device device_;
};

/// A shared reference to the memory of a tensor and its views, which keeps it alive (torch: c10::Storage).
class StorageHandle {
 public:
  StorageHandle() = default;
  explicit StorageHandle(Ref<Storage> storage) : storage_(std::move(storage)) {}

  explicit operator bool() const { return static_cast<bool>(storage_); }
  void* data() const {
    detail::host_access(*storage_);
    return storage_->data();
  }
  void* mutable_data() const { return data(); }
  DataPtr data_ptr() const { return {data(), device()}; }
  std::size_t nbytes() const { return storage_->bytes(); }
  Device device() const { return storage_->device(); }
  DeviceType device_type() const { return device().type(); }
  bool is_alias_of(const StorageHandle& other) const {
    return storage_ == other.storage_ ||
           (storage_ && other.storage_ && storage_->is_alias_of(*other.storage_));
  }
  /// Returns the number of arrays and handles that share the memory, including this one.
  std::size_t use_count() const { return storage_ ? storage_->use_count() : 0; }
  bool unique() const { return use_count() == 1; }
  Storage* unsafeGetStorageImpl() const {
    if (storage_) detail::host_access(*storage_);
    return storage_.get();
  }

  /// Returns the storage, for ops.
  const Ref<Storage>& ref() const { return storage_; }

 private:
  Ref<Storage> storage_;
};

}  // namespace ebb
