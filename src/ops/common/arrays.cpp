// Arrays made from arrays, without a graph.
#include "ops/common/arrays.h"

#include "ops/common/kernels.h"

namespace ebb::ops {

NdArray contiguous_array(const NdArray& x) { return x.is_contiguous() ? x : copied_array(x); }

NdArray contiguous_array(const NdArray& x, DType dtype, bool pinned) {
  if (x.is_contiguous() && x.dtype() == dtype) return x;
  NdArray out = NdArray::empty_strided(x.sizes(), contiguous_strides(x.sizes()), dtype, x.device(), pinned);
  kernels::copy(x.device(), out, x);
  return out;
}

NdArray cast_array(const NdArray& x, DType dtype) {
  if (x.dtype() == dtype) return x;
  NdArray out = NdArray::empty(x.sizes(), dtype, x.device());
  kernels::copy(x.device(), out, x);
  return out;
}

NdArray copied_array(const NdArray& x) {
  NdArray out = NdArray::empty(x.sizes(), x.dtype(), x.device());
  kernels::copy(x.device(), out, x);
  return out;
}

NdArray zeros_array(IntArrayRef sizes, DType dtype, Device device) {
  NdArray out = NdArray::empty(sizes, dtype, device);
  kernels::fill(device, out, 0);
  return out;
}

NdArray scalar_array(const Scalar& value, DType dtype, Device device) {
  NdArray out = NdArray::empty({}, dtype, device);
  kernels::fill(device, out, value);
  return out;
}

}  // namespace ebb::ops
