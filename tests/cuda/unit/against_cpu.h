// Compares a layer on a device with the CPU, with and without cuDNN, on real and emulated devices.
#pragma once

#include <ebb/cuda/device.h>
#include <ebb/ebb.h>

#include "support/catch.h"
#include "support/compare.h"

#include <functional>

// Whether the device is real: cases that fill the device use less memory in the emulation, and cases that
// break it are skipped. An interpreted device (EBB_CUDA=PTX) counts as real, because it runs the code from
// nvcc.

inline bool is_real_device() {
  return ebb::cuda::get_device_properties().name.find("Emulated") == std::string::npos;
}

// Runs checks with and without cuDNN, or in deterministic mode.

namespace ebb::testing {

struct Deterministic {
  Deterministic() { use_deterministic_algorithms(true); }
  ~Deterministic() { use_deterministic_algorithms(false); }
};

// Runs `check` with cuDNN and without.
inline void with_and_without_cudnn(const std::function<void()>& check) {
  struct Restore {
    ~Restore() { cuda::enable_cudnn(true); }
  } restore;
  for (const bool on : {true, false}) {
    INFO((on ? "with" : "without") << " cuDNN");
    cuda::enable_cudnn(on);
    check();
  }
}

// Compares a layer on a device with the CPU, for all floating dtypes and both layouts.

using Layer = std::function<Tensor(const Tensor&)>;

inline MemoryFormat format_of(const Tensor& x, bool last) {
  if (!last || x.dim() < 4) return MemoryFormat::Contiguous;
  return x.dim() == 4 ? MemoryFormat::ChannelsLast : MemoryFormat::ChannelsLast3d;
}

inline double tolerance_of(DType dtype) {
  switch (dtype) {
    case kDouble:
      return 1e-10;
    case kHalf:
      return 4e-3;
    case kBFloat16:
      return 3e-2;
    default:
      return 2e-5;
  }
}

inline void check_close(const Tensor& got, const Tensor& expected, DType dtype) {
  const double tolerance = tolerance_of(dtype);
  support::require_close(got, expected, tolerance, tolerance);
}

// Compares values and input gradients of a layer on the device, in both layouts, with the CPU in double.
inline void compare(const char* name, const Layer& layer, const Tensor& values, bool gradients = true,
                    bool batched = true) {
  INFO(name);
  for (const DType dtype : {kFloat, kHalf, kBFloat16, kDouble})
    for (const bool last : {false, true}) {
      if (last && (!batched || format_of(values, last) == MemoryFormat::Contiguous)) continue;
      INFO(to_string(dtype) << (last ? ", channels-last" : ", contiguous"));
      const Tensor x = values.to(dtype);
      Tensor host = x.to(kDouble).clone().requires_grad_(gradients);
      Tensor here = x.contiguous(format_of(x, last)).to(Device::CUDA).requires_grad_(gradients);
      const Tensor expected = layer(host), got = layer(here);
      CHECK(got.dtype() == dtype);
      CHECK(got.is_contiguous(format_of(got, last)));
      check_close(got, expected, dtype);
      if (!gradients) continue;
      const Tensor seed = randn(expected.sizes(), kDouble).to(dtype);
      expected.backward(seed.to(kDouble));
      got.backward(seed.contiguous(format_of(seed, last)).to(Device::CUDA));
      check_close(here.grad(), host.grad(), dtype);
    }
}

}  // namespace ebb::testing
