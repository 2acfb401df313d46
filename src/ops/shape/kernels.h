// The kernels of the shape family. Whatever moves elements is built from four of them, on views of the
// arrays.
#pragma once

#include "kernel/slot.h"

#include <ebb/core/ndarray.h>
#include <ebb/core/scalar.h>

#include <vector>

namespace ebb::kernels {

/// out = x, elementwise: one shape, one dtype, any strides (those of x may be 0 or negative).
extern EBB_API KernelSlot<void(NdArray& out, const NdArray& x)> strided_copy;
/// out's slices along `dim`, one after another, = the pieces: out's dtype, any strides, none empty.
extern EBB_API KernelSlot<void(NdArray& out, const std::vector<NdArray>& pieces, std::int64_t dim)> join;
/// out += x, elementwise: one shape, one dtype, any strides; out does not overlap itself.
extern EBB_API KernelSlot<void(NdArray& out, const NdArray& x)> strided_add;
/// Every element of out = value, in out's dtype.
extern EBB_API KernelSlot<void(NdArray& out, const Scalar& value)> strided_fill;
/// out = x with zeros above (lower) or below the given diagonal of the last two dimensions; out may be x.
extern EBB_API KernelSlot<void(NdArray& out, const NdArray& x, std::int64_t diagonal, bool lower)> triangle;

}  // namespace ebb::kernels

namespace ebb::cpu {

void strided_copy(NdArray& out, const NdArray& x);
void join(NdArray& out, const std::vector<NdArray>& pieces, std::int64_t dim);
void strided_add(NdArray& out, const NdArray& x);
void strided_fill(NdArray& out, const Scalar& value);
void triangle(NdArray& out, const NdArray& x, std::int64_t diagonal, bool lower);

}  // namespace ebb::cpu
