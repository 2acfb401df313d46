// DispatchKey: keys with which libtorch selects kernels. ebb selects kernels by the tensors' device.
#pragma once

#include <torch/csrc/namespaces.h>

#include <cstdint>

namespace c10 {

/// Only used by the macros of torch/library.h.
enum class DispatchKey : std::uint8_t {
  Undefined,
  CatchAll,
  CPU,
  CUDA,
  Meta,
  Autograd,
  AutogradCPU,
  AutogradCUDA,
  ADInplaceOrView,
  Autocast,
  AutocastCPU,
  AutocastCUDA,
  CompositeImplicitAutograd,
  CompositeExplicitAutograd,
};
constexpr DispatchKey kCatchAll = DispatchKey::CatchAll;

}  // namespace c10
