// The registration of the elementwise kernels on CUDA, and helpers of those kernels.
#pragma once

#include <ebb/core/scalar.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <typeinfo>

#include "ops/elementwise/kernels.h"

namespace ebb::cuda {

/// Fills the slots of all formulas.
void register_elementwise();
/// The number as one element of the dtype, in the low bytes.
std::uint64_t element_bits(const Scalar& value, DType dtype);

/// An operand, and what the kernel reads it as.
struct TypedOperand {
  const ops::Operand& operand;
  DType dtype;
};
/// Tells whoever asks (kernel/element_row.h) which formula was called, and with what.
void describe_formula(const std::type_info& type, const void* formula, std::size_t bytes, DType dtype,
                      std::initializer_list<TypedOperand> operands);

}  // namespace ebb::cuda
