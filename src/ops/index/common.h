// Helpers that the index ops share: in-place variants, checks of index dtypes, fill values, memory offsets,
// and calls of the scatter kernel.
#pragma once

#include <ebb/autograd/variable.h>
#include <ebb/ops/index.h>
#include <ebb/ops/shape.h>

#include "ops/common/arrays.h"
#include "ops/common/kernels.h"
#include "ops/common/record.h"
#include "ops/index/kernels.h"

namespace ebb::ops {

/// The variant of an op. For example, index_add returns a new tensor, and index_add_ writes to self.
struct Form {
  const char* op;
  bool in_place = false;
};

/// Runs the variant that `form` selects: write(array) modifies self in place, or a copy of self that is then
/// returned.
template <class N, class Write, class Fill, class... Inputs>
Variable record_either(const Form& form, const Variable& self, Write&& write, Fill&& fill,
                       const Inputs&... inputs) {
  if (form.in_place) return record_inplace<N>(self, form.op, write, fill, inputs...);
  NdArray out = copied_array(self.array());
  write(out);
  return record<N>(std::move(out), fill, self, inputs...);
}

/// Returns `value` as a 0-d array with the dtype and device of x. The host reads a tensor `value` only if x
/// is on the CPU or `value` is on another device than x.
NdArray fill_value(const char* op, const Variable& x, const Variable& value);
NdArray fill_value(const char* op, const Variable& x, const Scalar& value);

/// Views a 0-d array as a 1-d array of size 1. Returns any other array unchanged.
inline NdArray at_least_1d(const NdArray& x) { return x.dim() > 0 ? x : x.as_strided({1}, {1}, x.offset()); }

/// Returns the first element as a 0-d array. Kernels that take offsets count from this element.
inline NdArray first_element(const NdArray& x) { return x.as_strided({}, {}, x.offset()); }

// Runs index and index_put_ on a view. Error messages call dimension d of the view names[d], its number in
// the original tensor.
Variable index_part(const Variable& x, ArrayRef<optional<Variable>> indices, IntArrayRef names);
Variable& put_part_(const Variable& x, ArrayRef<optional<Variable>> indices, const Variable& values,
                    bool accumulate, IntArrayRef names);

/// Warns that PyTorch has deprecated masks of dtype Byte.
void warn_of_byte_mask(const char* op, const Variable& mask);

/// Returns the index as a Long array. Throws IndexError unless its dtype is Long or Int.
NdArray long_array(const char* op, const Variable& index);

/// Returns a 1-d array with the memory offset of each entry of `index` (of any shape) along a dimension of
/// the given size and stride. `dim` is the number of the dimension in errors.
NdArray offsets_along(const char* op, const NdArray& index, std::int64_t dim, std::int64_t size,
                      std::int64_t stride, bool wraps);

/// Returns the index of a gather or scatter as Long. It must be Long or Int; an empty index may have any
/// dtype.
Variable element_index(const char* op, const Variable& index);
/// Returns the index of a scatter along `dim` as element_index() does. Throws unless the index (and src, if
/// defined) fits x.
Variable check_scatter(const char* op, const Variable& x, std::int64_t dim, const Variable& places,
                       const Variable& src);
/// Calls the scatter kernel. Permits 0-d arrays, and narrows src to the shape of index.
void scatter_into(NdArray& out, std::int64_t dim, const NdArray& index, const NdArray& src,
                  kernels::ScatterOp op);
/// Returns the gradient of a src that may be larger than the index: gathers from x, and pads the result with
/// zeros up to `sizes`.
Variable gather_to(const Variable& x, std::int64_t dim, const Variable& index, IntArrayRef sizes);

}  // namespace ebb::ops
