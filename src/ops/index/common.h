// Steps that the ops of this family share.
#pragma once

#include <ebb/ops/index.h>
#include <ebb/ops/shape.h>

#include "ops/common/arrays.h"
#include "ops/common/kernels.h"
#include "ops/common/record.h"
#include "ops/index/kernels.h"

namespace ebb::ops {

/// The form of an op that was called: index_add gives a new tensor, index_add_ writes to self.
struct Form {
  const char* op;
  bool in_place = false;
};

/// Both forms: `write(array)` changes self's elements, or those of a copy.
template <class N, class Write, class Fill, class... Inputs>
Variable record_either(const Form& form, const Variable& self, Write&& write, Fill&& fill,
                       const Inputs&... inputs) {
  if (form.in_place) return record_inplace<N>(self, form.op, write, fill, inputs...);
  NdArray out = copied_array(self.array());
  write(out);
  return record<N>(std::move(out), fill, self, inputs...);
}

/// A 0-d tensor's value as that of x's dtype and device. Read by the host only if it lies elsewhere than a
/// device's x.
NdArray fill_value(const char* op, const Variable& x, const Variable& value);
NdArray fill_value(const char* op, const Variable& x, const Scalar& value);

/// A 0-d array seen with one dimension of size 1, anything else as it is.
inline NdArray at_least_1d(const NdArray& x) { return x.dim() > 0 ? x : x.as_strided({1}, {1}, x.offset()); }

/// The first element of an array, as a 0-d array: kernels that take offsets count from it.
inline NdArray first_element(const NdArray& x) { return x.as_strided({}, {}, x.offset()); }

// index and index_put_ of a view: errors call its dimension d names[d], the one it was in the whole.
Variable index_part(const Variable& x, ArrayRef<optional<Variable>> indices, IntArrayRef names);
Variable& put_part_(const Variable& x, ArrayRef<optional<Variable>> indices, const Variable& values,
                    bool accumulate, IntArrayRef names);

/// Says of a mask of dtype Byte that PyTorch gives it up.
void warn_of_byte_mask(const char* op, const Variable& mask);

/// A Long array of the same values; throws IndexError for other than integer dtypes.
NdArray long_array(const char* op, const Variable& index);

/// Memory offsets of `index`'s entries (any shape, flattened) along one dimension of size and stride.
NdArray offsets_along(const char* op, const NdArray& index, std::int64_t dim, std::int64_t size,
                      std::int64_t stride, bool wraps);

}  // namespace ebb::ops
