// index_reduce and segment_reduce, computed by scatter_reduce. index_reduce combines each slice with the
// slice that a 1-d index names. segment_reduce reduces segments of consecutive rows.
#include <ebb/autograd/record.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/index.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>

#include "ops/common/checks.h"
#include "ops/common/dims.h"

#include <cmath>

namespace ebb {
namespace {

struct SourceSlices {
  std::int64_t dim;
  Variable index, source;
};

// Returns x if it has dimensions, otherwise a view of x with one dimension of size 1.
Variable at_least_1d(const Variable& x) { return x.dim() == 0 ? unsqueeze(x, 0) : x; }

SourceSlices checked_slices(const char* op, const Variable& x, std::int64_t dim, const Variable& index,
                            const Variable& source, std::string_view reduce) {
  EBB_CHECK(reduce == "prod" || reduce == "mean" || reduce == "amax" || reduce == "amin", op,
            ": reduce argument must be either prod, mean, amax or amin, got \"", reduce, "\".");
  dim = wrap_dim(op, dim, x.dim());
  EBB_CHECK(index.dim() <= 1 && (index.dtype() == kLong || index.dtype() == kInt), op,
            ": index must be a vector of Long or Int, got ", index, ".");
  EBB_CHECK(source.dtype() == x.dtype(), op, ": self and source must be of one dtype, got ", x.dtype(),
            " and ", source.dtype(), ".");
  EBB_CHECK(source.dim() == x.dim(), op, ": source must have as many dimensions as self, got shapes ",
            source.sizes(), " and ", x.sizes(), ".");
  const Variable target = at_least_1d(x), from = at_least_1d(source);
  EBB_CHECK(from.size(dim) == index.numel(), op, ": source must have a slice for each of the ", index.numel(),
            " indices along dimension ", dim, ", got shapes ", source.sizes(), " and ", x.sizes(), ".");
  if (from.numel() == 0)
    index_select(target.detach(), dim, index);  // checks the indices even if there is nothing to reduce
  DimVector place(static_cast<std::size_t>(from.dim()), 1);
  place[dim] = index.numel();
  for (std::int64_t d = 0; d < from.dim(); ++d)
    EBB_CHECK(d == dim || from.size(d) == target.size(d), op,
              ": source and self must have the same sizes except in dimension ", dim, ", got shapes ",
              source.sizes(), " and ", x.sizes(), ".");
  return {dim, expand(reshape(index.to(kLong), place), from.sizes()), from};
}

}  // namespace

Variable index_reduce(const Variable& x, std::int64_t dim, const Variable& index, const Variable& source,
                      std::string_view reduce, bool include_self) {
  const SourceSlices call = checked_slices("index_reduce", x, dim, index, source, reduce);
  const Variable out =
      scatter_reduce(at_least_1d(x), call.dim, call.index, call.source, reduce, include_self);
  return x.dim() == 0 ? squeeze(out, 0) : out;
}

Variable& index_reduce_(const Variable& x, std::int64_t dim, const Variable& index, const Variable& source,
                        std::string_view reduce, bool include_self) {
  checked_slices("index_reduce_", x, dim, index, source, reduce);
  autograd::check_inplace(x, "index_reduce_");
  // The gradient needs the values that are about to be overwritten.
  const Variable before = autograd::records(x, source) ? clone(x) : x;
  return copy_(x, index_reduce(before, dim, index, source, reduce, include_self));
}

namespace {

/// The name of the reduction in scatter_reduce, its neutral element, and the result of an empty segment.
struct Reduction {
  const char* name;
  double neutral, empty;
};

Reduction reduction_of(std::string_view reduce) {
  if (reduce == "sum") return {"sum", 0, 0};
  if (reduce == "mean") return {"sum", 0, NAN};
  if (reduce == "max") return {"amax", -INFINITY, -INFINITY};
  if (reduce == "min") return {"amin", INFINITY, INFINITY};
  if (reduce == "prod") return {"prod", 1, 1};
  ebb::detail::fail("segment_reduce: reduce must be sum, mean, max, min or prod, got \"", reduce, "\".");
}

/// The lengths of the segments, [..., s], and the start of the first segment, [..., 1]. Both are Long.
struct Segments {
  Variable lengths, start;
};

Segments segments_of(const optional<Variable>& lengths, const optional<Variable>& offsets) {
  const bool given = lengths && lengths->defined();
  EBB_CHECK(given != (offsets && offsets->defined()),
            "segment_reduce: expected either lengths or offsets, got ", given ? "both" : "neither", ".");
  const Variable& by = given ? *lengths : *offsets;
  EBB_CHECK(by.dim() > 0 && (by.dtype() == kLong || by.dtype() == kInt), "segment_reduce: expected ",
            given ? "lengths" : "offsets", " as Long or Int of at least one dimension, got ", by, ".");
  const Variable places = by.to(kLong);
  if (given) return {places, zeros_like(places.sum({-1}, true))};
  EBB_CHECK(by.size(-1) > 0, "segment_reduce: expected at least one offset, got shape ", by.sizes(), ".");
  return {diff(places), places.narrow(-1, 0, 1)};
}

}  // namespace

Variable segment_reduce(const Variable& data, std::string_view reduce, const optional<Variable>& lengths,
                        const optional<Variable>& indices, const optional<Variable>& offsets,
                        std::int64_t axis, bool unsafe, const optional<Scalar>& initial) {
  EBB_CHECK(data.defined() && is_floating(data.dtype()) && data.dim() > 0,
            "segment_reduce: expected data of a floating-point dtype and at least one dimension, got ", data,
            ".");
  EBB_CHECK(!indices || !indices->defined(), "segment_reduce: indices are not supported, as in PyTorch.");
  const Reduction rule = reduction_of(reduce);
  const auto [counts, start_of] = segments_of(lengths, offsets);
  ops::common_device("segment_reduce", data, counts);
  const std::int64_t d = wrap_dim("segment_reduce", axis, data.dim()), segments = counts.size(-1),
                     n = data.size(d);
  EBB_CHECK(d == counts.dim() - 1,
            "segment_reduce: expected axis to be the last dimension of lengths, got axis ", axis,
            " and shape ", counts.sizes(), ".");
  for (std::int64_t i = 0; i < d; ++i)
    EBB_CHECK(data.size(i) == counts.size(i), "segment_reduce: data of shape ", data.sizes(),
              " and lengths of shape ", counts.sizes(), " differ before axis ", axis, ".");
  EBB_CHECK(unsafe || counts.numel() == 0 ||
                (counts.min().item<std::int64_t>() >= 0 &&
                 (start_of.squeeze(-1) + counts.sum({-1})).eq(n).all().item<bool>()),
            "segment_reduce: expected lengths that are not negative and add up to ", n, " along axis ", axis,
            ".");
  // Concatenates all rows, and computes the segment number of each. A mean is computed in a wider dtype,
  // because its sum may overflow in 16-bit floats.
  const DType dtype = data.dtype(), wide = reduce == "mean" ? ops::wide_dtype(dtype) : dtype;
  // The rows before and after the segments are in additional segments, which are dropped.
  const Variable rest = (n - start_of - counts.sum({-1}, true)).clamp_min(0);
  const Variable flat = data.flatten(0, d).to(wide), all = cat({start_of, counts, rest}, -1).reshape({-1});
  DimVector sizes(flat.sizes()), ones(flat.sizes().size(), 1);
  ones[0] = flat.size(0);
  const Variable rows = arange(flat.size(0), all.options());
  const Variable place = searchsorted(all.cumsum(0), rows, false, true).view(ones).expand(sizes);
  sizes[0] = all.size(0);
  ones[0] = all.size(0);
  const double start = initial ? initial->to_double() : rule.neutral;
  Variable out =
      full(sizes, start, flat.options().requires_grad(false)).scatter_reduce(0, place, flat, rule.name);
  if (reduce == "mean") {
    const Variable count = all.view(ones);
    out = where(count.eq(0), initial ? start : rule.empty, out / count.clamp_min(1).to(out.dtype()));
  }
  DimVector result(data.sizes());
  result[d] = segments + 2;
  return out.reshape(result).narrow(d, 1, segments).to(dtype);
}

}  // namespace ebb
