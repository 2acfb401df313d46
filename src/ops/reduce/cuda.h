// The description of a reduction on CUDA, for those that fuse it.
#pragma once

#include <cstddef>
#include <typeinfo>

#include "ops/reduce/kernels.h"

namespace ebb::cuda {

/// Tells whoever asks (kernel/element_reduction.h) which formula was called; false where nobody does.
bool describe_reduction(const std::type_info& type, const void* formula, std::size_t bytes);

}  // namespace ebb::cuda
