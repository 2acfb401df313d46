// Addresses of a device first, memory behind them later: the driver's virtual memory management.
#pragma once

#include <ebb/core/device.h>

#include <cstddef>

namespace ebb::cuda {

/// Whether the device and its driver can do it. Never throws.
bool has_virtual_memory(Device device) noexcept;
/// What memory of a device comes in, in bytes.
std::size_t virtual_memory_granularity(Device device);

/// A range of addresses, behind which there is memory by granules.
class AddressRange {
 public:
  /// Both in bytes; `granule` is a multiple of the device's granularity, `bytes` of the granule. Throws
  /// ebb::Error when the addresses cannot be had.
  AddressRange(Device device, std::size_t bytes, std::size_t granule);
  /// Nothing may be mapped any more.
  ~AddressRange();
  AddressRange(const AddressRange&) = delete;

  char* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  std::size_t granule() const { return granule_; }

  /// Puts memory behind whole granules that have none. False where the device has no more: then none of them
  /// has. Throws ebb::Error for another failure.
  bool map(char* from, std::size_t bytes);
  /// Takes the memory of whole granules away; nothing on the device may still use it.
  void unmap(char* from, std::size_t bytes) noexcept;

 private:
  Device device_;
  std::size_t bytes_, granule_;
  char* data_ = nullptr;
};

}  // namespace ebb::cuda
