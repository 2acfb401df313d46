// What the stand-ins for cuDNN share: with EBB_EMU_DNN set they compute by the CPU's kernels, which tests how
// the library is called; without, they have no algorithm for anything, so that ebb's own kernels are tested.
#pragma once

#include "cuda/emu/runtime/api.h"
#include "kernel/cuda/device.h"
#include "kernel/cuda/dnn.h"
#include "ops/common/kernels.h"

namespace ebb::emu {

/// Device memory as an array of the CPU: inside an action of a stream it may be touched.
inline NdArray on_cpu(const NdArray& x) {
  return NdArray(Storage::adopt(x.data(), 0, Device(kCPU), nullptr, nullptr), DimVector(x.sizes()),
                 DimVector(x.strides()), 0, x.dtype());
}

/// What the CPU's kernels take.
inline NdArray plain(const NdArray& x) {
  NdArray out = NdArray::empty(x.sizes(), x.dtype() == kDouble ? kDouble : kFloat);
  kernels::copy(Device(kCPU), out, x);
  return out;
}

}  // namespace ebb::emu
