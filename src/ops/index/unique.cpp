// unique, unique_consecutive and unique_dim.
#include <ebb/ops/creation.h>
#include <ebb/ops/index.h>
#include <ebb/ops/shape.h>

#include "core/recorder.h"
#include "ops/common/arrays.h"
#include "ops/common/dims.h"
#include "ops/index/sort_kernels.h"

namespace ebb {

namespace ops {
namespace {

using Triple = std::tuple<Variable, Variable, Variable>;

Triple unique_of(const Variable& self, optional<std::int64_t> dim, bool consecutive, bool return_inverse,
                 bool return_counts) {
  const Variable x = self.detach();
  const Device device = x.device();
  const Variable slices = dim ? x.transpose(0, *dim) : x.reshape({-1});
  const std::int64_t n = slices.dim() == 0 ? 1 : slices.size(0);
  EBB_CHECK(n == 0 || x.numel() > 0, "unique_dim: there are no elements to compare in shape ", x.sizes(),
            " along dim ", dim.value_or(0), ".");
  const NdArray lines = contiguous_array(slices.array());
  const NdArray rows = lines.as_strided({n, n == 0 ? 1 : lines.numel() / n},
                                        {n == 0 ? 1 : lines.numel() / n, 1}, lines.offset());
  NdArray first, inverse, counts;
  detail::host_access(rows);  // the results' shapes depend on the elements
  kernels::unique(device, first, inverse, counts, rows, consecutive);
  Variable values = slices.dim() == 0 ? slices.clone() : slices.index_select(0, Variable(std::move(first)));
  if (dim) values = values.transpose(0, *dim).contiguous();
  if (!dim) inverse = inverse.as_strided(x.sizes(), contiguous_strides(x.sizes()), 0);
  const NdArray none = NdArray::empty({0}, kLong, device);
  return {std::move(values), Variable(return_inverse ? inverse : none),
          Variable(return_counts ? counts : none)};
}

std::int64_t existing_dim(const char* op, const Variable& x, std::int64_t dim) {
  EBB_CHECK_INDEX(x.dim() > 0, op, ": got dim ", dim, ", but the tensor has no dimensions. Leave dim out.");
  return wrap_dim(op, dim, x.dim());
}

}  // namespace
}  // namespace ops

std::tuple<Variable, Variable> _unique(const Variable& self, bool, bool return_inverse) {
  auto [values, inverse, counts] = ops::unique_of(self, nullopt, false, return_inverse, false);
  return {std::move(values), std::move(inverse)};
}
std::tuple<Variable, Variable, Variable> _unique2(const Variable& self, bool, bool return_inverse,
                                                  bool return_counts) {
  return ops::unique_of(self, nullopt, false, return_inverse, return_counts);
}
std::tuple<Variable, Variable, Variable> unique_dim(const Variable& self, std::int64_t dim, bool,
                                                    bool return_inverse, bool return_counts) {
  dim = ops::existing_dim("unique_dim", self, dim);
  return ops::unique_of(self, dim, false, return_inverse, return_counts);
}
std::tuple<Variable, Variable, Variable> unique_consecutive(const Variable& self, bool return_inverse,
                                                            bool return_counts, optional<std::int64_t> dim) {
  if (dim) dim = ops::existing_dim("unique_consecutive", self, *dim);
  return ops::unique_of(self, dim, true, return_inverse, return_counts);
}

}  // namespace ebb
