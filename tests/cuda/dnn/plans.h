// A described GPU without a real one, and plans for it with arrays that are never read.
#pragma once

#include "cuda/nvidia/dnn/descriptor.h"
#include "cuda/nvidia/dnn/plan.h"

#include <algorithm>

namespace ebb::cuda::dnn {

/// The description of an H200 in the format of cuDNN 9.19, read from a real device.
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

// Plans for a described device, with arrays that are never read.

/// The described device for which plans are built.
inline Target described_target() {
  static const Descriptor device = described_device();
  return {.properties = &device};
}

inline std::vector<Plan> plans_of(const Task& task, std::size_t most = 1,
                                  std::int64_t workspace = INT64_MAX) {
  const Target target = described_target();
  return make_plans(task.problem, task.graph(task.problem, target), target, most, workspace);
}

inline NdArray array(const DimVector& sizes, DType dtype, bool channels_last = false,
                     std::uintptr_t address = 4096) {
  return NdArray(Storage::adopt(reinterpret_cast<void*>(address), 0, Device(kCPU), nullptr, nullptr), sizes,
                 channels_last ? channels_last_strides(sizes) : contiguous_strides(sizes), 0, dtype);
}

inline bool has_note(const Plan& plan, cudnnBackendNumericalNote_t note) {
  return std::ranges::find(plan.notes, note) != plan.notes.end();
}
inline bool any_with(const std::vector<Plan>& plans, cudnnBackendNumericalNote_t note) {
  return std::ranges::any_of(plans, [&](const Plan& plan) { return has_note(plan, note); });
}

}  // namespace ebb::cuda::dnn
