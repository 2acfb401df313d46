// Plans for a device that is only described, of arrays that nobody reads.
#pragma once

#include "cuda/nvidia/dnn/plan.h"

#include <algorithm>

#include "cuda/dnn/described_device.h"

namespace ebb::cuda::dnn {

/// The device that is described, for which plans are made.
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
