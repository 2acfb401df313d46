// DataPtr and GetCPUAllocator: CPU memory.
#pragma once

#include <ebb/core/storage.h>

#include <torch/csrc/namespaces.h>

namespace c10 {

/// Owned memory, freed with the last copy of this object (c10::DataPtr).
class DataPtr {
 public:
  DataPtr() = default;
  explicit DataPtr(ebb::Ref<ebb::Storage> storage) : storage_(std::move(storage)) {}
  void* get() const { return storage_ ? storage_->data() : nullptr; }
  explicit operator bool() const { return get() != nullptr; }
  ebb::Device device() const { return storage_ ? storage_->device() : ebb::Device(ebb::kCPU); }
  void clear() { storage_ = {}; }

 private:
  ebb::Ref<ebb::Storage> storage_;
};

/// The allocator of all CPU tensors (c10::GetCPUAllocator).
class Allocator {
 public:
  DataPtr allocate(std::size_t bytes) const { return DataPtr(ebb::Storage::allocate(bytes, ebb::kCPU)); }
};
inline Allocator* GetCPUAllocator() {
  static Allocator allocator;
  return &allocator;
}

}  // namespace c10
