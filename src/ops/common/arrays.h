// Conversions and copies of arrays, outside of the graph, on one device or between devices. Every copy of an
// op's inputs is made by one of these functions.
#pragma once

#include <ebb/autograd/variable.h>
#include <ebb/core/ndarray.h>

namespace ebb::ops {

/// The form in which a kernel takes an array. Without `dtype` or `sizes`, those of the array are accepted.
struct ArrayForm {
  optional<DType> dtype = nullopt;
  MemoryFormat format = MemoryFormat::Contiguous;
  OptionalIntArrayRef sizes = nullopt;  // the array is expanded to these sizes
  bool pinned = false;                  // if a copy is made, it is in page-locked memory
};
inline constexpr ArrayForm kContiguousForm;
/// Returns x itself if it has the form, otherwise a copy in that form.
NdArray contiguous_array(const NdArray& x, const ArrayForm& form = kContiguousForm);
/// Returns the tensor's array in the given form, or an undefined array if the tensor is undefined.
NdArray contiguous_array(const Variable& x, const ArrayForm& form = kContiguousForm);
/// Returns x itself if it has the dtype, otherwise a contiguous copy in the dtype.
NdArray cast_array(const NdArray& x, DType dtype);
/// Returns a contiguous copy of x, which the caller may overwrite.
NdArray copied_array(const NdArray& x);
NdArray zeros_array(IntArrayRef sizes, DType dtype, Device device);
/// Returns an array without dimensions that holds `value`.
NdArray scalar_array(const Scalar& value, DType dtype, Device device);

/// Returns the device with its index. A CUDA device without an index becomes the current device; the CPU has
/// no index. Loads the backend on first use.
Device resolve_device(Device device);

/// Copies x to out and converts it to out's dtype. The devices may differ. Both arrays have the same shape
/// and do not overlap. With `non_blocking` the host does not wait for copies to or from pinned memory.
void copy_array(NdArray& out, const NdArray& x, bool non_blocking = false);

/// Copies `numbers`, which the calling op created on the host. No other code can change this array, so a
/// captured graph treats it as a constant: the elements are copied to memory of the graph before the first
/// replay, and each replay copies them from that memory.
void copy_constant(NdArray& out, const NdArray& numbers);

}  // namespace ebb::ops
