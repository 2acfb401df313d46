// The kernel slots of elementwise ops, one for each formula, and the registration of the CUDA kernels.
#pragma once

#include "kernel/call/arguments.h"
#include "kernel/call/slot.h"

namespace ebb::ops {

using detail::Operand;

/// An operand of a recorded call. It owns its array, if it is not a scalar. A scalar that was read from a
/// tensor is read again in each replay.
class EBB_API KeptOperand {
 public:
  KeptOperand(const Operand& x);
  ~KeptOperand();
  KeptOperand(const KeptOperand&) = delete;
  KeptOperand& operator=(const KeptOperand&) = delete;
  operator Operand() const;
  /// Returns the operand as recorded. A scalar that was read from a tensor has the value from the recording.
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
/// Computes out = op(a, b). The operands have the dtype `dtype`. out has the same dtype, or Bool for
/// comparisons.
template <class Op>
void binary(NdArray& out, DType dtype, const ops::Operand& a, const ops::Operand& b, const Op& op);
template <class Op>
void ternary(NdArray& out, const ops::Operand& a, const ops::Operand& b, const ops::Operand& c, const Op& op);

}  // namespace ebb::cpu

namespace ebb::kernels {

// The slots of a list of formulas are defined together with its CPU kernels (cpu_list.cpp.in).
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

namespace ebb::cuda {

void register_elementwise();

}  // namespace ebb::cuda
