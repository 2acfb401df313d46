// Keys by which libtorch chooses kernels. ebb's ops choose by the device of their tensors.
#pragma once

#include <torch/csrc/namespaces.h>

#include <cstdint>

namespace c10 {

/// For the macros of torch/library.h alone.
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
