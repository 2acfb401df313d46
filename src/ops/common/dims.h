// Dimension arguments of reductions, and the way back from a reduced shape.
#pragma once

#include <ebb/autograd/variable.h>

#include "kernel/reduce_plan.h"

namespace ebb::ops {

/// All dimensions of a tensor. This and the next two throw for a tensor of more than 64 dimensions, as torch
/// does.
DimMask all_dims(const char* op, const Variable& x);
/// One dimension, which may count from the end; throws for one out of range.
DimMask one_dim(const char* op, const Variable& x, std::int64_t dim);
/// The given dimensions, or all of them when the list is empty; throws for one out of range or named twice.
DimMask dim_mask(const char* op, const Variable& x, IntArrayRef dims);
inline DimMask dim_mask(const char* op, const Variable& x, OptionalIntArrayRef dims) {
  return dims ? dim_mask(op, x, *dims) : all_dims(op, x);
}
/// The shape without the reduced dimensions, or with 1 in their places.
DimVector reduced_sizes(IntArrayRef sizes, DimMask mask, bool keepdim);
/// The dtype in which many elements of a floating dtype are counted and summed: float for 16 bits.
constexpr DType wide_dtype(DType dtype) { return dtype == kHalf || dtype == kBFloat16 ? kFloat : dtype; }
/// How many elements go into each output.
std::int64_t reduced_count(IntArrayRef sizes, DimMask mask);

/// x in the dtype that variance sums in; 16-bit floats on CUDA as they are, since kernels there read
/// them themselves.
NdArray reduced_input(const NdArray& x, DType sums);
/// x as kernels read it for a sum or product in `dtype`: itself, unless its numbers become others before they
/// are added up.
NdArray summed_input(const NdArray& x, optional<ScalarType> dtype);
/// The dtype that kernels sum x up in, for a result in `dtype`.
DType summed_dtype(DType x, optional<ScalarType> dtype);
/// y, a result of reducing `sizes` over `mask`, repeated along the reduced dimensions. Differentiable, no
/// copy.
Variable expand_reduced(const Variable& y, IntArrayRef sizes, DimMask mask, bool keepdim);
/// y with 1 in the places of the reduced dimensions. Differentiable, no copy.
Variable restore_dims(const Variable& y, IntArrayRef sizes, DimMask mask, bool keepdim);

/// sum(x over mask) / divisor, converted first if a dtype is given; its node is called `name`.
Variable sum_over(const Variable& x, DimMask mask, bool keepdim, optional<ScalarType> dtype, double divisor,
                  const char* name);

}  // namespace ebb::ops
