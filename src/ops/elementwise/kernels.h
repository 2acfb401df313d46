// The family's kernel slots, one a formula.
#pragma once

#include <ebb/core/ndarray.h>
#include <ebb/core/scalar.h>

#include "kernel/slot.h"

namespace ebb::ops {

struct Unary;  // what formulas of one input derive from

/// An input of a kernel: an array of the op's dtype that broadcasts to the output, or, where `array` is null,
/// one number passed by value.
struct Operand {
  const NdArray* array = nullptr;
  Scalar value;
  const NdArray* read_from = nullptr;  // the array without dimensions on the CPU that the number stood in
  Operand(const NdArray& a) : array(&a) {}
  Operand(const Scalar& v) : value(v) {}
  Operand(const Scalar& v, const NdArray& from) : value(v), read_from(&from) {}
};

/// The number in an array without dimensions on the CPU.
EBB_API Scalar number_in(const NdArray& x);

/// An operand that owns its array; a number that was read is read again.
struct KeptOperand {
  NdArray array;
  Scalar value;
  bool number;

  KeptOperand(const Operand& x) : value(x.value), number(!x.array) {
    if (x.array) array = *x.array;
    if (x.read_from) array = *x.read_from;
  }
  operator Operand() const {
    if (!number) return Operand(array);
    return Operand(array.defined() ? number_in(array) : value);
  }
  void visit(detail::ArgumentVisitor& v) {
    detail::visit_argument(number, v);
    if (array.defined())
      v.array(array);
    else
      detail::visit_argument(value, v);
  }
};

}  // namespace ebb::ops

template <>
struct ebb::detail::KeptAs<ebb::ops::Operand> {
  using type = ebb::ops::KeptOperand;
};
template <>
inline constexpr bool ebb::detail::kPerElement<ebb::ops::Operand> = true;
template <class Op>
requires std::is_base_of_v<ebb::ops::Unary, Op>
inline constexpr bool ebb::detail::kPerElement<Op> = true;

namespace ebb::cpu {

template <class Op>
void unary(NdArray& out, const NdArray& x, const Op& op);
/// Operands have the dtype `dtype`; out has it too, or is Bool for comparisons.
template <class Op>
void binary(NdArray& out, DType dtype, const ops::Operand& a, const ops::Operand& b, const Op& op);
template <class Op>
void ternary(NdArray& out, const ops::Operand& a, const ops::Operand& b, const ops::Operand& c, const Op& op);

}  // namespace ebb::cpu

namespace ebb::kernels {

// The slots of a list of formulas are defined where its CPU kernels are (cpu_list.cpp.in).
template <class Op>
struct EBB_API Unary {
  static SlotOf<decltype(cpu::unary<Op>)> slot;
};
template <class Op>
struct EBB_API Binary {
  static SlotOf<decltype(cpu::binary<Op>)> slot;
};
template <class Op>
struct EBB_API Ternary {
  static SlotOf<decltype(cpu::ternary<Op>)> slot;
};

}  // namespace ebb::kernels
