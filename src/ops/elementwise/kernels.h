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

/// An operand that owns its array; a number that was read is read again.
class EBB_API KeptOperand {
 public:
  KeptOperand(const Operand& x);
  ~KeptOperand();
  KeptOperand(const KeptOperand&) = delete;
  KeptOperand& operator=(const KeptOperand&) = delete;
  operator Operand() const;
  void visit(detail::ArgumentVisitor& v);

 private:
  NdArray array_;
  Scalar value_;
  bool number_;
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
