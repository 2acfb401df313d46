// Comparisons, logical and bitwise ops, and type promotion.
#pragma once

#include <ebb/autograd/variable.h>

namespace ebb {

/// Returns the dtype in which an op on these operands computes (torch.result_type).
EBB_API DType result_type(const Variable& a, const Variable& b);
EBB_API DType result_type(const Variable& a, const Scalar& b);
EBB_API DType result_type(const Scalar& a, const Variable& b);
EBB_API DType result_type(const Scalar& a, const Scalar& b);
/// Returns whether a result of dtype `from` may be stored in an array of dtype `to` (torch.can_cast).
EBB_API bool can_cast(DType from, DType to);

// Comparisons broadcast and return Bool without a gradient. NaN is unequal to everything. In-place ops write
// 0 or 1 in self's dtype.

/// self == other
EBB_API Variable eq(const Variable& self, const Variable& other);
EBB_API Variable& eq_(const Variable& self, const Variable& other);
EBB_API Variable eq(const Variable& self, const Scalar& other);
EBB_API Variable& eq_(const Variable& self, const Scalar& other);
/// self != other
EBB_API Variable ne(const Variable& self, const Variable& other);
EBB_API Variable& ne_(const Variable& self, const Variable& other);
EBB_API Variable ne(const Variable& self, const Scalar& other);
EBB_API Variable& ne_(const Variable& self, const Scalar& other);
inline Variable not_equal(const Variable& self, const Variable& other) { return ne(self, other); }
inline Variable& not_equal_(const Variable& self, const Variable& other) { return ne_(self, other); }
inline Variable not_equal(const Variable& self, const Scalar& other) { return ne(self, other); }
inline Variable& not_equal_(const Variable& self, const Scalar& other) { return ne_(self, other); }
/// self < other
EBB_API Variable lt(const Variable& self, const Variable& other);
EBB_API Variable& lt_(const Variable& self, const Variable& other);
EBB_API Variable lt(const Variable& self, const Scalar& other);
EBB_API Variable& lt_(const Variable& self, const Scalar& other);
inline Variable less(const Variable& self, const Variable& other) { return lt(self, other); }
inline Variable& less_(const Variable& self, const Variable& other) { return lt_(self, other); }
inline Variable less(const Variable& self, const Scalar& other) { return lt(self, other); }
inline Variable& less_(const Variable& self, const Scalar& other) { return lt_(self, other); }
/// self <= other
EBB_API Variable le(const Variable& self, const Variable& other);
EBB_API Variable& le_(const Variable& self, const Variable& other);
EBB_API Variable le(const Variable& self, const Scalar& other);
EBB_API Variable& le_(const Variable& self, const Scalar& other);
inline Variable less_equal(const Variable& self, const Variable& other) { return le(self, other); }
inline Variable& less_equal_(const Variable& self, const Variable& other) { return le_(self, other); }
inline Variable less_equal(const Variable& self, const Scalar& other) { return le(self, other); }
inline Variable& less_equal_(const Variable& self, const Scalar& other) { return le_(self, other); }
/// self > other
EBB_API Variable gt(const Variable& self, const Variable& other);
EBB_API Variable& gt_(const Variable& self, const Variable& other);
EBB_API Variable gt(const Variable& self, const Scalar& other);
EBB_API Variable& gt_(const Variable& self, const Scalar& other);
inline Variable greater(const Variable& self, const Variable& other) { return gt(self, other); }
inline Variable& greater_(const Variable& self, const Variable& other) { return gt_(self, other); }
inline Variable greater(const Variable& self, const Scalar& other) { return gt(self, other); }
inline Variable& greater_(const Variable& self, const Scalar& other) { return gt_(self, other); }
/// self >= other
EBB_API Variable ge(const Variable& self, const Variable& other);
EBB_API Variable& ge_(const Variable& self, const Variable& other);
EBB_API Variable ge(const Variable& self, const Scalar& other);
EBB_API Variable& ge_(const Variable& self, const Scalar& other);
inline Variable greater_equal(const Variable& self, const Variable& other) { return ge(self, other); }
inline Variable& greater_equal_(const Variable& self, const Variable& other) { return ge_(self, other); }
inline Variable greater_equal(const Variable& self, const Scalar& other) { return ge(self, other); }
inline Variable& greater_equal_(const Variable& self, const Scalar& other) { return ge_(self, other); }

/// |self - other| <= atol + rtol |other|, elementwise. Both have the same dtype, in which the formula is
/// computed (for integers, in double). With equal_nan, NaN is close to NaN.
EBB_API Variable isclose(const Variable& self, const Variable& other, double rtol = 1e-5, double atol = 1e-8,
                         bool equal_nan = false);
/// Returns whether isclose is true for all elements.
EBB_API bool allclose(const Variable& self, const Variable& other, double rtol = 1e-5, double atol = 1e-8,
                      bool equal_nan = false);
/// Returns whether shape, dtype and all elements are equal.
EBB_API bool equal(const Variable& self, const Variable& other);

/// True where both operands are nonzero, as Bool.
EBB_API Variable logical_and(const Variable& self, const Variable& other);
EBB_API Variable& logical_and_(const Variable& self, const Variable& other);
/// True where at least one operand is nonzero, as Bool.
EBB_API Variable logical_or(const Variable& self, const Variable& other);
EBB_API Variable& logical_or_(const Variable& self, const Variable& other);
/// True where exactly one operand is nonzero, as Bool.
EBB_API Variable logical_xor(const Variable& self, const Variable& other);
EBB_API Variable& logical_xor_(const Variable& self, const Variable& other);
/// Bitwise and, for integers and Bool.
EBB_API Variable bitwise_and(const Variable& self, const Variable& other);
EBB_API Variable& bitwise_and_(const Variable& self, const Variable& other);
EBB_API Variable bitwise_and(const Variable& self, const Scalar& other);
EBB_API Variable& bitwise_and_(const Variable& self, const Scalar& other);
EBB_API Variable bitwise_and(const Scalar& self, const Variable& other);
/// Bitwise or, for integers and Bool.
EBB_API Variable bitwise_or(const Variable& self, const Variable& other);
EBB_API Variable& bitwise_or_(const Variable& self, const Variable& other);
EBB_API Variable bitwise_or(const Variable& self, const Scalar& other);
EBB_API Variable& bitwise_or_(const Variable& self, const Scalar& other);
EBB_API Variable bitwise_or(const Scalar& self, const Variable& other);
/// Bitwise exclusive or, for integers and Bool.
EBB_API Variable bitwise_xor(const Variable& self, const Variable& other);
EBB_API Variable& bitwise_xor_(const Variable& self, const Variable& other);
EBB_API Variable bitwise_xor(const Variable& self, const Scalar& other);
EBB_API Variable& bitwise_xor_(const Variable& self, const Scalar& other);
EBB_API Variable bitwise_xor(const Scalar& self, const Variable& other);
/// The bits of self, shifted to the left by `other` positions.
EBB_API Variable bitwise_left_shift(const Variable& self, const Variable& other);
EBB_API Variable& bitwise_left_shift_(const Variable& self, const Variable& other);
EBB_API Variable bitwise_left_shift(const Variable& self, const Scalar& other);
EBB_API Variable& bitwise_left_shift_(const Variable& self, const Scalar& other);
EBB_API Variable bitwise_left_shift(const Scalar& self, const Variable& other);
/// The bits of self, shifted to the right by `other` positions. The sign does not change.
EBB_API Variable bitwise_right_shift(const Variable& self, const Variable& other);
EBB_API Variable& bitwise_right_shift_(const Variable& self, const Variable& other);
EBB_API Variable bitwise_right_shift(const Variable& self, const Scalar& other);
EBB_API Variable& bitwise_right_shift_(const Variable& self, const Scalar& other);
EBB_API Variable bitwise_right_shift(const Scalar& self, const Variable& other);

inline Variable operator<(const Variable& a, const Variable& b) { return lt(a, b); }
inline Variable operator<(const Variable& a, const Scalar& b) { return lt(a, b); }
inline Variable operator<(const Scalar& a, const Variable& b) { return gt(b, a); }
inline Variable operator<=(const Variable& a, const Variable& b) { return le(a, b); }
inline Variable operator<=(const Variable& a, const Scalar& b) { return le(a, b); }
inline Variable operator<=(const Scalar& a, const Variable& b) { return ge(b, a); }
inline Variable operator>(const Variable& a, const Variable& b) { return gt(a, b); }
inline Variable operator>(const Variable& a, const Scalar& b) { return gt(a, b); }
inline Variable operator>(const Scalar& a, const Variable& b) { return lt(b, a); }
inline Variable operator>=(const Variable& a, const Variable& b) { return ge(a, b); }
inline Variable operator>=(const Variable& a, const Scalar& b) { return ge(a, b); }
inline Variable operator>=(const Scalar& a, const Variable& b) { return le(b, a); }
inline Variable operator==(const Variable& a, const Variable& b) { return eq(a, b); }
inline Variable operator==(const Variable& a, const Scalar& b) { return eq(a, b); }
inline Variable operator==(const Scalar& a, const Variable& b) { return eq(b, a); }
inline Variable operator!=(const Variable& a, const Variable& b) { return ne(a, b); }
inline Variable operator!=(const Variable& a, const Scalar& b) { return ne(a, b); }
inline Variable operator!=(const Scalar& a, const Variable& b) { return ne(b, a); }
inline Variable operator&(const Variable& a, const Variable& b) { return bitwise_and(a, b); }
inline Variable operator&(const Variable& a, const Scalar& b) { return bitwise_and(a, b); }
inline Variable operator&(const Scalar& a, const Variable& b) { return bitwise_and(b, a); }
inline Variable operator|(const Variable& a, const Variable& b) { return bitwise_or(a, b); }
inline Variable operator|(const Variable& a, const Scalar& b) { return bitwise_or(a, b); }
inline Variable operator|(const Scalar& a, const Variable& b) { return bitwise_or(b, a); }
inline Variable operator^(const Variable& a, const Variable& b) { return bitwise_xor(a, b); }
inline Variable operator^(const Variable& a, const Scalar& b) { return bitwise_xor(a, b); }
inline Variable operator^(const Scalar& a, const Variable& b) { return bitwise_xor(b, a); }
inline Variable operator<<(const Variable& a, const Variable& b) { return bitwise_left_shift(a, b); }
inline Variable operator<<(const Variable& a, const Scalar& b) { return bitwise_left_shift(a, b); }
inline Variable operator>>(const Variable& a, const Variable& b) { return bitwise_right_shift(a, b); }
inline Variable operator>>(const Variable& a, const Scalar& b) { return bitwise_right_shift(a, b); }

}  // namespace ebb
