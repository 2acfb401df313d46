// The device for the tests of this folder, which are compiled once for the CPU and once for CUDA.
#pragma once

#include <ebb/core/device.h>

#ifdef EBB_TEST_ON_CUDA
inline constexpr ebb::DeviceType kHere = ebb::kCUDA;
#else
inline constexpr ebb::DeviceType kHere = ebb::kCPU;
#endif
