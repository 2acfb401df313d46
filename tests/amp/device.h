// The device that the tests of this folder run on: the same sources are compiled for both.
#pragma once

#include <ebb/core/device.h>

#ifdef EBB_TEST_ON_CUDA
inline constexpr ebb::DeviceType kHere = ebb::kCUDA;
#else
inline constexpr ebb::DeviceType kHere = ebb::kCPU;
#endif
