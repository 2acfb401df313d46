// Arrays made from arrays, without a graph: every copy that an op takes of its inputs is one of these.
#pragma once

#include <ebb/autograd/variable.h>

namespace ebb::ops {

/// The form in which a kernel takes an array; a field that is left out asks for nothing.
struct ArrayForm {
  optional<DType> dtype = nullopt;
  MemoryFormat format = MemoryFormat::Contiguous;
  OptionalIntArrayRef sizes = nullopt;  // the array is expanded to these
  bool pinned = false;                  // a copy is made in page-locked memory
};
inline constexpr ArrayForm kContiguousForm;
/// x itself if it has the form, else a copy that does.
NdArray contiguous_array(const NdArray& x, const ArrayForm& form = kContiguousForm);
/// The same of a tensor; none of an undefined one.
NdArray contiguous_array(const Variable& x, const ArrayForm& form = kContiguousForm);
/// x itself if it is of the dtype, else a contiguous copy that is.
NdArray cast_array(const NdArray& x, DType dtype);
/// A contiguous copy of x, to be written into.
NdArray copied_array(const NdArray& x);
/// A contiguous array of zeros.
NdArray zeros_array(IntArrayRef sizes, DType dtype, Device device);
/// `value` as an array without dimensions.
NdArray scalar_array(const Scalar& value, DType dtype, Device device);

}  // namespace ebb::ops
