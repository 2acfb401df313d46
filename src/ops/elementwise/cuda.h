// What the CUDA plugin asks of the family.
#pragma once

#include <ebb/core/scalar.h>

#include <cstdint>

namespace ebb::cuda {

/// Fills the family's kernel slots.
void register_elementwise();
/// The number as one element of the dtype, in the low bytes.
std::uint64_t element_bits(const Scalar& value, DType dtype);

}  // namespace ebb::cuda
