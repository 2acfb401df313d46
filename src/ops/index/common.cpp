// Helpers that the index ops share: checks of index dtypes, fill values and memory offsets.
#include "ops/index/common.h"

#include <ebb/core/warning.h>
#include <ebb/ops/creation.h>

#include "ops/common/arrays.h"
#include "ops/common/checks.h"

namespace ebb::ops {

void warn_of_byte_mask(const char* op, const Variable& mask) {
  if (mask.dtype() != kByte) return;
  warn(op, ": indexing with dtype torch.uint8 is now deprecated. Write `mask != 0`, which is of dtype Bool.");
}

NdArray long_array(const char* op, const Variable& index) {
  EBB_CHECK_INDEX(index.dtype() == kLong || index.dtype() == kInt, op,
                  ": expected an index of dtype Long or Int, got ", index.dtype(),
                  ". Convert it with .to(kLong).");
  return index.dtype() == kLong ? index.array() : to(Variable(index.array()), kLong).array();
}

NdArray fill_value(const char* op, const Variable& x, const Variable& value) {
  EBB_CHECK(value.dim() == 0, op, ": only supports a 0-dimensional value tensor, but got shape ",
            value.sizes(), ".");
  if (x.is_cpu() || value.device() != x.device()) return fill_value(op, x, value.item());
  return Variable(value.array())
      .to(x.dtype(), false, /*copy=*/true)
      .array();  // the value may be a view of an element of x
}

NdArray fill_value(const char* op, const Variable& x, const Scalar& value) {
  check_fits(op, value, x.dtype());
  return scalar_array(value, x.dtype(), x.device());
}

NdArray offsets_along(const char* op, const NdArray& index, std::int64_t dim, std::int64_t size,
                      std::int64_t stride, bool wraps) {
  NdArray out = NdArray::empty(index.sizes(), kLong, index.device());
  kernels::IndexRules rules;
  rules.op = op;
  rules.wraps = wraps;
  rules.dims = {dim};
  kernels::index_offsets(index.device(), out, index, size, stride, rules);
  return out.as_strided({out.numel()}, {1}, 0);
}

}  // namespace ebb::ops
