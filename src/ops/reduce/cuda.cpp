// Puts the family's CUDA kernels into their slots, and their formulas before those who fuse them.
#include "ops/reduce/cuda.h"

#include <cstring>

#include "kernel/kernel_traits.h"

namespace ebb::cuda {

bool describe_reduction(const std::type_info& type, const void* formula, std::size_t bytes) {
  ebb::detail::ElementReduction* const asked = ebb::detail::asked_reduction();
  if (!asked) return false;
  asked->type = &type;
  asked->formula_bytes = bytes;
  std::memcpy(asked->formula, formula, bytes);
  return true;
}

}  // namespace ebb::cuda
