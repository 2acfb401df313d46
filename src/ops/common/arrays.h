// Arrays made from arrays, without a graph: every copy that an op takes of its inputs is one of these.
#pragma once

#include <ebb/autograd/variable.h>

namespace ebb::ops {

/// x itself if it is contiguous, else a contiguous copy.
NdArray contiguous_array(const NdArray& x);
/// The same of a tensor; none of an undefined one.
inline NdArray contiguous_array(const Variable& x) {
  return x.defined() ? contiguous_array(x.array()) : NdArray();
}
/// x itself if it is contiguous and of the dtype, else a copy that is; `pinned` asks for page-locked memory.
NdArray contiguous_array(const NdArray& x, DType dtype, bool pinned = false);
/// x itself if it is of the dtype, else a contiguous copy that is.
NdArray cast_array(const NdArray& x, DType dtype);
/// A contiguous copy of x, to be written into.
NdArray copied_array(const NdArray& x);
/// A contiguous array of zeros.
NdArray zeros_array(IntArrayRef sizes, DType dtype, Device device);
/// `value` as an array without dimensions.
NdArray scalar_array(const Scalar& value, DType dtype, Device device);

}  // namespace ebb::ops
