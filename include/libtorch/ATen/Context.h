// Global state of the process: seeds, devices, threads, determinism.
#pragma once

#include <ebb/ebb.h>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Parallel.h>
#include <torch/csrc/namespaces.h>

namespace at {

inline bool hasCUDA() { return ebb::cuda::is_available(); }
inline bool hasCuDNN() { return ebb::cuda::cudnn_is_available(); }
/// Returns false, because ebb has its own kernels in place of these libraries.
inline bool hasMAGMA() { return false; }
inline bool hasMKL() { return false; }
inline bool hasMKLDNN() { return false; }
inline bool hasHIP() { return false; }
inline bool hasMPS() { return false; }
inline std::size_t getNumGPUs() { return ebb::cuda::device_count(); }
/// Returns true, because ebb has matrix decompositions.
inline bool hasLAPACK() { return true; }

}  // namespace at
