// Virtual memory of a device: addresses are reserved first, and memory is mapped to them later.
#pragma once

#include <ebb/core/device.h>

#include <cstddef>

namespace ebb::cuda {

/// Returns whether the device and its driver support virtual memory management. Never throws.
bool has_virtual_memory(Device device) noexcept;
/// Returns the allocation granularity of the device's memory, in bytes.
std::size_t virtual_memory_granularity(Device device);

/// A range of addresses, to which memory is mapped in granules.
class AddressRange {
 public:
  /// Reserves addresses. Both sizes are in bytes. `granule` is a multiple of the device's granularity, and
  /// `bytes` is a multiple of `granule`. Throws ebb::Error if the addresses cannot be reserved.
  AddressRange(Device device, std::size_t bytes, std::size_t granule);
  /// Frees the addresses. Requires that no memory is mapped to them any more.
  ~AddressRange();
  AddressRange(const AddressRange&) = delete;

  char* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  std::size_t granule() const { return granule_; }

  /// Maps memory to the granules of [from, from + bytes), which have none yet. Returns false and maps nothing
  /// if the device has no memory left. Throws ebb::Error for another failure.
  bool map(char* from, std::size_t bytes);
  /// Unmaps the memory of the granules of [from, from + bytes), which the device must not use any more.
  void unmap(char* from, std::size_t bytes) noexcept;

 private:
  Device device_;
  std::size_t bytes_, granule_;
  char* data_ = nullptr;
};

}  // namespace ebb::cuda
