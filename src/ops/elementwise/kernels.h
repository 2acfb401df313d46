// The family's kernel slots, one a formula.
#pragma once

#include "kernel/operand.h"
#include "kernel/slot.h"

namespace ebb::ops {

using detail::Operand;

/// An operand that owns its array; a number that was read is read again.
class EBB_API KeptOperand {
 public:
  KeptOperand(const Operand& x);
  ~KeptOperand();
  KeptOperand(const KeptOperand&) = delete;
  KeptOperand& operator=(const KeptOperand&) = delete;
  operator Operand() const;
  /// The operand as it was given: a number that was read is as it was then.
  Operand given() const;
  void visit(detail::ArgumentVisitor& v);

 private:
  NdArray array_;
  Scalar value_;
  bool number_;
};

}  // namespace ebb::ops

template <>
struct ebb::detail::KeptAs<ebb::detail::Operand> {
  using type = ebb::ops::KeptOperand;
};

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
