// Applies formulas to tensors without recording: result dtype, broadcast shape, output layout, kernel call.
#pragma once

#include <ebb/autograd/variable.h>

#include "ops/common/checks.h"
#include "ops/elementwise/formula.h"
#include "ops/elementwise/kernels.h"

#include <concepts>

namespace ebb::ops {

/// Returns an uninitialised array of x's shape. If x is dense, the new array has the order of dimensions that
/// x has in memory.
NdArray empty_like(const NdArray& x, DType dtype);
/// Returns x converted to another dtype.
NdArray converted(const NdArray& x, DType dtype);
/// Returns the dtype in which an op computes if its inputs promote to `promoted`. With Types::floating,
/// integers and bool become the default dtype. Throws if the op is not defined for `promoted`.
DType compute_dtype(const char* op, Types types, DType promoted);

/// True for comparisons and predicates, whose output is Bool.
template <class Op>
constexpr bool kGivesBool = requires(const Op& op) {
  { op.value(1) } -> std::same_as<bool>;
} || requires(const Op& op) {
  { op.value(1, 1) } -> std::same_as<bool>;
};

/// The inputs of a kernel after promotion and broadcasting.
struct Prepared {
  DType dtype = DType::Undefined;
  Device device;
  NdArray held[3];  // converted copies
  Operand operands[3];
  DimVector sizes;
  const NdArray* like = nullptr;  // determines the layout of the output; null: contiguous
};

const NdArray& undefined_array();
/// Returns a tensor or a scalar as an input of an op. A tensor may be undefined, but then prepare() throws.
inline Operand operand(const Variable& x) { return x.defined() ? x.impl()->data : undefined_array(); }
inline Operand operand(const Scalar& number) { return number; }

/// Promotes, broadcasts and converts the inputs, and stores them in `out`. If `condition`, the first input
/// becomes Bool, and only the other inputs determine the dtype.
void prepare(const char* op, Types types, const Operand* inputs, int count, Prepared& out,
             bool condition = false);
NdArray make_output(const Prepared& p, DType dtype);

/// Returns the result dtype of an op that computes in d.
template <class Op>
constexpr DType result_dtype(DType d) {
  return kGivesBool<Op> ? kBool : d;
}

// Each of the following functions has one variable and one return, so that the result is constructed in the
// caller's memory.

/// Returns op(a). The op is defined for the dtype of a.
template <class Op>
NdArray computed(const Op& op, const NdArray& a) {
  NdArray out = a.is_contiguous() ? NdArray::empty(a.sizes(), result_dtype<Op>(a.dtype()), a.device())
                                  : empty_like(a, result_dtype<Op>(a.dtype()));
  kernels::Unary<Op>::slot(a.device(), out, a, op);
  return out;
}
template <class Op>
[[gnu::noinline, gnu::cold]] NdArray computed_in(DType dtype, const Op& op, const NdArray& a) {
  return computed(op, converted(a, dtype));
}
/// Returns op(a, b) for operands that are already converted. The result has the shape and device of x, and
/// the result_dtype() of x's dtype.
template <class Op, class A, class B>
NdArray computed(const Op& op, const NdArray& x, const A& a, const B& b) {
  NdArray out = NdArray::empty(x.sizes(), result_dtype<Op>(x.dtype()), x.device());
  kernels::Binary<Op>::slot(x.device(), out, x.dtype(), a, b, op);
  return out;
}

template <class Op>
NdArray apply(const Op& op, const Variable& x) {
  const NdArray& a = x.array();
  if (has_type(Op::kTypes, a.dtype())) [[likely]]
    return computed(op, a);
  return computed_in(compute_dtype(Op::kName, Op::kTypes, a.dtype()), op, a);
}

template <class Op>
[[gnu::noinline]] NdArray apply_prepared(const Op& op, const Operand (&inputs)[2]) {
  Prepared p;
  prepare(Op::kName, Op::kTypes, inputs, 2, p);
  NdArray out = make_output(p, result_dtype<Op>(p.dtype));
  kernels::Binary<Op>::slot(p.device, out, p.dtype, p.operands[0], p.operands[1], op);
  return out;
}

template <class Op>
NdArray apply(const Op& op, const Variable& a, const Variable& b) {
  check_defined(Op::kName, a);
  check_defined(Op::kName, b);
  const NdArray &x = a.array(), &y = b.array();
  if (x.dtype() == y.dtype() && x.is_contiguous() && y.is_contiguous() && x.sizes() == y.sizes() &&
      has_type(Op::kTypes, x.dtype()) && x.device() == y.device()) [[likely]]
    return computed(op, x, x, y);
  return apply_prepared(op, {x, y});
}

template <class Op>
NdArray apply(const Op& op, const Variable& a, const Scalar& b) {
  const NdArray& x = a.array();
  if (x.is_contiguous() && has_type(Op::kTypes, x.dtype()) && promote_with_scalar(x.dtype(), b) == x.dtype())
      [[likely]]
    return computed(op, x, x, b);
  return apply_prepared(op, {x, b});
}

template <class Op>
NdArray apply(const Op& op, const Scalar& a, const Variable& b) {
  const NdArray& y = b.array();
  if (y.is_contiguous() && has_type(Op::kTypes, y.dtype()) && promote_with_scalar(y.dtype(), a) == y.dtype())
      [[likely]]
    return computed(op, y, a, y);
  return apply_prepared(op, {a, y});
}

template <class Op>
NdArray apply(const Op& op, const Operand& a, const Operand& b, const Operand& c) {
  Prepared p;
  const Operand inputs[] = {a, b, c};
  prepare(Op::kName, Op::kTypes, inputs, 3, p, Op::kCondition);
  NdArray out = make_output(p, p.dtype);
  kernels::Ternary<Op>::slot(p.device, out, p.operands[0], p.operands[1], p.operands[2], op);
  return out;
}

/// Checks an in-place op and returns its target: self's array if the dtypes allow it, otherwise `temporary`.
NdArray& inplace_target(const char* op, Types types, bool gives_bool, const Variable& self,
                        const Operand* inputs, int count, Prepared& p, NdArray& temporary);
/// Returns whether all elements of a dense Bool tensor are true.
bool all_true(const Variable& x);
/// Copies a temporary result to self.
void finish_inplace(const Variable& self, const NdArray& computed);

template <class Op>
void apply_inplace(const Op& op, const Variable& self) {
  NdArray& a = self.impl()->data;
  if (has_type(Op::kTypes, a.dtype()) && !kGivesBool<Op>) [[likely]]
    return kernels::Unary<Op>::slot(a.device(), a, a, op);
  Prepared p;
  NdArray temporary;
  const Operand inputs[] = {a};
  NdArray& out = inplace_target(Op::kName, Op::kTypes, kGivesBool<Op>, self, inputs, 1, p, temporary);
  kernels::Unary<Op>::slot(p.device, out, *p.operands[0].array, op);
  finish_inplace(self, out);
}

/// Returns whether the kernel can write to `a` without conversions, broadcasting and copies of `other`.
template <class Op>
bool is_plain_inplace(const NdArray& a, const Operand& other) {
  if (kGivesBool<Op> || !a.is_contiguous() || !has_type(Op::kTypes, a.dtype())) return false;
  if (!other.array) return promote_with_scalar(a.dtype(), other.value) == a.dtype();
  const NdArray& b = *other.array;
  return b.defined() && b.dtype() == a.dtype() && b.is_contiguous() && b.sizes() == a.sizes() &&
         b.device() == a.device() && !b.storage()->is_alias_of(*a.storage());
}

template <class Op>
void apply_inplace(const Op& op, const Variable& self, const Operand& other) {
  NdArray& a = self.impl()->data;
  if (is_plain_inplace<Op>(a, other)) [[likely]]
    return kernels::Binary<Op>::slot(a.device(), a, a.dtype(), a, other, op);
  Prepared p;
  NdArray temporary;
  const Operand inputs[] = {operand(self), other};
  NdArray& out = inplace_target(Op::kName, Op::kTypes, kGivesBool<Op>, self, inputs, 2, p, temporary);
  kernels::Binary<Op>::slot(p.device, out, p.dtype, p.operands[0], p.operands[1], op);
  finish_inplace(self, out);
}

template <class Op>
void apply_inplace(const Op& op, const Variable& self, const Operand& b, const Operand& c) {
  Prepared p;
  NdArray temporary;
  const Operand inputs[] = {operand(self), b, c};
  NdArray& out = inplace_target(Op::kName, Op::kTypes, false, self, inputs, 3, p, temporary);
  kernels::Ternary<Op>::slot(p.device, out, p.operands[0], p.operands[1], p.operands[2], op);
  finish_inplace(self, out);
}

}  // namespace ebb::ops
