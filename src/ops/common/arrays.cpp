// Conversions and copies of arrays, outside of the graph.
#include "ops/common/arrays.h"

#include "ops/common/kernels.h"
#include "ops/common/layout.h"

namespace ebb::ops {

NdArray contiguous_array(const NdArray& x, const ArrayForm& form) {
  const DType dtype = form.dtype.value_or(x.dtype());
  if (form.sizes && x.sizes() != *form.sizes)
    return contiguous_array(x.expand(*form.sizes), {dtype, form.format, nullopt, form.pinned});
  if (x.dtype() == dtype && has_format(x, form.format)) return x;
  const DimVector strides = form.format == MemoryFormat::Contiguous ? contiguous_strides(x.sizes())
                                                                    : channels_last_strides(x.sizes());
  NdArray out = NdArray::empty_strided(x.sizes(), strides, dtype, x.device(), form.pinned);
  kernels::copy(x.device(), out, x);
  return out;
}

NdArray contiguous_array(const Variable& x, const ArrayForm& form) {
  return x.defined() ? contiguous_array(x.array(), form) : NdArray();
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
