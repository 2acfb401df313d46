// Dimension arguments of reductions, and expansion of a reduced tensor to the original shape.
#include "ops/common/dims.h"

#include <ebb/autograd/record.h>

#include "ops/common/arrays.h"
#include "ops/common/record.h"

namespace ebb::ops {

namespace {
void check_reducible(const char* op, const Variable& x) {
  EBB_CHECK(x.dim() <= kMaxReduceDims, op, ": only tensors of up to 64 dimensions can be reduced, got ",
            x.dim(), ". Join some by flatten() or reshape() first.");
}
}  // namespace

DimMask all_dims(const char* op, const Variable& x) {
  check_reducible(op, x);
  return x.dim() == kMaxReduceDims ? ~DimMask{0} : (DimMask{1} << x.dim()) - 1;
}

DimMask one_dim(const char* op, const Variable& x, std::int64_t dim) {
  check_reducible(op, x);
  return DimMask{1} << wrap_dim(op, dim, x.dim());
}

DimMask dim_mask(const char* op, const Variable& x, IntArrayRef dims) {
  const std::int64_t n = x.dim();
  if (dims.empty()) return all_dims(op, x);
  check_reducible(op, x);
  DimMask mask = 0;
  for (std::int64_t dim : dims) {
    const std::int64_t d = wrap_dim(op, dim, n);
    EBB_CHECK(!((mask >> d) & 1), op, ": dim ", d, " appears multiple times in the list of dims ", dims,
              ". Name each dimension once.");
    mask |= DimMask{1} << d;
  }
  return mask;
}

DimVector reduced_sizes(IntArrayRef sizes, DimMask mask, bool keepdim) {
  DimVector out;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    if (!((mask >> d) & 1))
      out.push_back(sizes[d]);
    else if (keepdim)
      out.push_back(1);
  }
  return out;
}

std::int64_t reduced_count(IntArrayRef sizes, DimMask mask) {
  std::int64_t count = 1;
  for (std::size_t d = 0; d < sizes.size(); ++d)
    if ((mask >> d) & 1) count *= sizes[d];
  return count;
}

NdArray summed_input(const NdArray& x, optional<ScalarType> dtype) {
  const bool truncates = dtype && is_integral(*dtype, true) && is_floating(x.dtype());
  return truncates || dtype == kBool ? cast_array(x, *dtype) : x;
}

DType summed_dtype(DType x, optional<ScalarType> dtype) {
  if (is_integral(x, true)) return dtype && is_floating(*dtype) ? kDouble : kLong;
  const bool widens = dtype && *dtype != x && (*dtype == kDouble || wide_dtype(x) != x);
  return widens ? kDouble : x;
}

NdArray reduced_input(const NdArray& x, DType sums) {
  return x.device().is_cuda() && sums == kFloat && element_size(x.dtype()) == 2 ? x : cast_array(x, sums);
}

namespace {

struct ExpandReducedBackward : autograd::Node {
  DimMask mask = 0;
  bool keepdim = false;
  std::string name() const override { return "ExpandBackward0"; }
  autograd::GradList apply(autograd::GradList&& grads) override {
    return {sum_over(grads[0], mask, keepdim, nullopt, 1, "SumBackward1")};
  }
};

}  // namespace

Variable expand_reduced(const Variable& y, IntArrayRef sizes, DimMask mask, bool keepdim) {
  DimVector strides(sizes.size());
  const NdArray& array = y.array();
  std::size_t from = 0;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    const bool reduced = (mask >> d) & 1;
    strides[d] = reduced ? 0 : array.strides()[from];
    if (!reduced || keepdim) ++from;
  }
  NdArray view = array.as_strided(sizes, strides, array.offset());
  const auto node = node_of<ExpandReducedBackward>(
      [&](ExpandReducedBackward& n) {
        n.mask = mask;
        n.keepdim = keepdim;
      },
      y);
  return node ? autograd::make_view(y, std::move(view), node) : Variable(std::move(view));
}

Variable restore_dims(const Variable& y, IntArrayRef sizes, DimMask mask, bool keepdim) {
  return keepdim ? y : expand_reduced(y, reduced_sizes(sizes, mask, true), mask, false);
}

}  // namespace ebb::ops
