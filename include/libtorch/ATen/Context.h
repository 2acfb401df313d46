// What holds for the whole process: seeds, devices, threads, determinism.
#pragma once

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Parallel.h>
#include <ebb/ebb.h>
#include <torch/csrc/namespaces.h>

namespace at {

inline bool hasCUDA() { return ebb::cuda::is_available(); }
inline bool hasCuDNN() { return ebb::cuda::cudnn_is_available(); }

}  // namespace at
