// A GPU that is described, not there.
#pragma once

#include "cuda/nvidia/dnn/descriptor.h"

namespace ebb::cuda::dnn {

/// An H200 as cuDNN 9.19 describes it to itself, read from one.
constexpr char kH200[] = R"({
  "deviceName": "NVIDIA H200", "cudaDeviceId": 0, "pciDeviceId": 6, "deviceVer": 900, "driverVer": 13000,
  "maxGridSize": [2147483647, 65535, 65535], "maxBlockSize": [1024, 1024, 64], "warpSize": 32,
  "multiProcessorCount": 132, "maxCtasPerSM": 32, "maxThreadsPerBlock": 1024, "maxThreadsPerSM": 2048,
  "regsPerBlock": 65536, "maxRegistersPerSM": 65536, "maxSharedMemoryPerBlock": 49152,
  "maxSharedMemoryPerBlockOptin": 232448, "reservedSharedMemoryPerBlock": 1024, "l2CacheSize": 62914560,
  "totalGlobalMem": 150109880320, "smClockRateKHz": 1980000, "memClockRateKHz": 3201000,
  "isTccDriver": 0, "supportCoopLaunch": 1
})";

inline Descriptor described_device() {
  Descriptor device(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
  device.set(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, kH200, sizeof(kH200) - 1);
  device.finalize();
  return device;
}

}  // namespace ebb::cuda::dnn
