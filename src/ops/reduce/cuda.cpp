// Puts the family's CUDA kernels into their slots, and their formulas before those who fuse them.
#include "ops/reduce/cuda.h"

#include <cstring>

#include "kernel/element_reduction.h"

namespace ebb::cuda {

bool describe_reduction(const std::type_info& type, const void* formula, std::size_t bytes) {
  ebb::detail::ElementReduction* const asked = ebb::detail::asked_reduction();
  if (!asked) return false;
  asked->type = &type;
  asked->formula_bytes = bytes;
  std::memcpy(asked->formula, formula, bytes);
  return true;
}

void register_reduce() {
  kernels::sum.set_cuda(&sum);
  kernels::nansum.set_cuda(&nansum);
  kernels::prod.set_cuda(&prod);
  kernels::amax.set_cuda(&amax);
  kernels::amin.set_cuda(&amin);
  kernels::any.set_cuda(&any);
  kernels::all.set_cuda(&all);
  kernels::count_nonzero.set_cuda(&count_nonzero);
  kernels::xor_bits.set_cuda(&xor_bits);
  kernels::norm.set_cuda(&norm);
  kernels::variance.set_cuda(&variance);
  kernels::extreme_index.set_cuda(&extreme_index);
}

}  // namespace ebb::cuda
