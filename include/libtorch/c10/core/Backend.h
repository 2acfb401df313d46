// Backend: the device type whose kernels a tensor uses.
#pragma once

#include <ebb/core/device.h>

#include <torch/csrc/namespaces.h>

#include <cstdint>

namespace c10 {

enum class Backend : std::uint8_t { CPU, CUDA, Undefined };

inline Backend backend_of(ebb::DeviceType type) {
  return type == ebb::DeviceType::CUDA ? Backend::CUDA : Backend::CPU;
}
inline ebb::DeviceType backendToDeviceType(Backend backend) {
  return backend == Backend::CUDA ? ebb::DeviceType::CUDA : ebb::DeviceType::CPU;
}

}  // namespace c10
