// The family's kernel slots, one a functor.
#pragma once

#include <ebb/core/ndarray.h>
#include <ebb/core/scalar.h>

#include "kernel/slot.h"

namespace ebb::ops {

/// An input of a kernel: an array of the op's dtype that broadcasts to the output, or, where `array` is null,
/// one number passed by value.
struct Operand {
  const NdArray* array = nullptr;
  Scalar value;
  Operand(const NdArray& a) : array(&a) {}
  Operand(const Scalar& v) : value(v) {}
};

}  // namespace ebb::ops

namespace ebb::kernels {

using ops::Operand;

template <class Op>
using UnaryKernel = KernelSlot<void(NdArray& out, const NdArray& x, const Op& op)>;
/// Operands have the dtype `dtype`; out has it too, or is Bool for comparisons.
template <class Op>
using BinaryKernel =
    KernelSlot<void(NdArray& out, DType dtype, const Operand& a, const Operand& b, const Op& op)>;
template <class Op>
using TernaryKernel =
    KernelSlot<void(NdArray& out, const Operand& a, const Operand& b, const Operand& c, const Op& op)>;

// The slots are defined in slots.cpp for every functor of lists.h.
template <class Op>
struct EBB_API Unary {
  static UnaryKernel<Op> slot;
};
template <class Op>
struct EBB_API Binary {
  static BinaryKernel<Op> slot;
};
template <class Op>
struct EBB_API Ternary {
  static TernaryKernel<Op> slot;
};

}  // namespace ebb::kernels

namespace ebb::cpu {

template <class Op>
void unary(NdArray& out, const NdArray& x, const Op& op);
template <class Op>
void binary(NdArray& out, DType dtype, const ops::Operand& a, const ops::Operand& b, const Op& op);
template <class Op>
void ternary(NdArray& out, const ops::Operand& a, const ops::Operand& b, const ops::Operand& c, const Op& op);

}  // namespace ebb::cpu
