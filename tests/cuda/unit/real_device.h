// Whether the device is a real one: cases that fill it shrink in the emulation, and those that break it are
// skipped. An interpreted device (EBB_CUDA=PTX) counts as real, for it computes what nvcc compiled.
#pragma once

#include <ebb/cuda/device.h>

inline bool is_real_device() {
  return ebb::cuda::get_device_properties().name.find("Emulated") == std::string::npos;
}
