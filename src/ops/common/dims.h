// Dimension arguments of reductions, and expansion of a reduced tensor to the original shape.
#pragma once

#include <ebb/autograd/variable.h>

#include "kernel/reduce_plan.h"

namespace ebb::ops {

/// Returns the mask of all dimensions of x. This function, one_dim() and dim_mask() throw for more than 64
/// dimensions, as torch does.
DimMask all_dims(const char* op, const Variable& x);
/// Returns the mask of one dimension. A negative `dim` counts from the end. Throws if it is out of range.
DimMask one_dim(const char* op, const Variable& x, std::int64_t dim);
/// Returns the mask of the given dimensions, or of all dimensions if the list is empty. Throws if a dimension
/// is out of range or repeated.
DimMask dim_mask(const char* op, const Variable& x, IntArrayRef dims);
inline DimMask dim_mask(const char* op, const Variable& x, OptionalIntArrayRef dims) {
  return dims ? dim_mask(op, x, *dims) : all_dims(op, x);
}
/// Returns `sizes` without the reduced dimensions, or with size 1 for each of them if `keepdim`.
DimVector reduced_sizes(IntArrayRef sizes, DimMask mask, bool keepdim);
/// Returns the dtype in which elements of a floating dtype are accumulated: Float for 16 bits.
constexpr DType wide_dtype(DType dtype) { return dtype == kHalf || dtype == kBFloat16 ? kFloat : dtype; }
/// Returns the number of input elements that are reduced to one output element.
std::int64_t reduced_count(IntArrayRef sizes, DimMask mask);

/// Returns x converted to `sums`, the dtype in which variance accumulates. On CUDA 16-bit floats are not
/// converted for `sums` = Float, because the kernels convert them.
NdArray reduced_input(const NdArray& x, DType sums);
/// Returns x, converted to `dtype` if the conversion must precede the sum or product: x of a floating dtype
/// for an integer `dtype`, and any x for Bool.
NdArray summed_input(const NdArray& x, optional<ScalarType> dtype);
/// Returns the dtype in which kernels accumulate x for a result in `dtype`.
DType summed_dtype(DType x, optional<ScalarType> dtype);
/// Expands y to the shape `sizes` along the reduced dimensions. y is the reduction over `mask` of a tensor of
/// this shape. The expansion is differentiable and does not copy.
Variable expand_reduced(const Variable& y, IntArrayRef sizes, DimMask mask, bool keepdim);
/// Returns y with size 1 for each of the reduced dimensions. This view is differentiable.
Variable restore_dims(const Variable& y, IntArrayRef sizes, DimMask mask, bool keepdim);

/// Returns sum(x over mask) / divisor. If a dtype is given, x is first converted to it. `name` is the name of
/// the node.
Variable sum_over(const Variable& x, DimMask mask, bool keepdim, optional<ScalarType> dtype, double divisor,
                  const char* name);

}  // namespace ebb::ops
