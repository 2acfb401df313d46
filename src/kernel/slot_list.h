// Declares the slots of a family of kernels from one list of their names.
//
//   #define EBB_SHAPE_KERNELS(X) X(join, "join"); X(triangle, "triangle");
//   EBB_DECLARE_KERNELS(EBB_SHAPE_KERNELS)
//
// An entry names a function of ebb::cpu, declared above the list, and the op's name in errors and profiles.
// The list is in a header of the family. cmake/EbbSlots.cmake finds it there and generates the sources that
// define the slots and fill them with the functions of ebb::cuda. A kernel without a definition is a linker
// error.
#pragma once

#include "kernel/slot.h"

namespace ebb::detail {
/// The traits of a kernel's slot. A family's header specializes it for kernels with traits.
template <auto kernel>
inline constexpr KernelTraits traits_of{};
}  // namespace ebb::detail

/// Declares, at global scope, the slots ebb::kernels::f and the CUDA kernels ebb::cuda::f of a list.
#define EBB_DECLARE_KERNELS(LIST) \
  namespace ebb::kernels {        \
  LIST(EBB_DECLARE_SLOT)          \
  }                               \
  namespace ebb::cuda {           \
  LIST(EBB_DECLARE_CUDA_KERNEL)   \
  }

#define EBB_DECLARE_SLOT(kernel, op) extern EBB_API KernelSlot<decltype(cpu::kernel)> kernel
#define EBB_DECLARE_CUDA_KERNEL(kernel, op) decltype(ebb::cpu::kernel) kernel
