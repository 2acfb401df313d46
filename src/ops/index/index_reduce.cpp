// index_reduce: combines slices into those that a 1-d index names, as scatter_reduce with a broadcast index.
#include <ebb/autograd/record.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/index.h>
#include <ebb/ops/shape.h>

namespace ebb {
namespace {

struct SourceSlices {
  std::int64_t dim;
  Variable index, source;
};

// A 0-d tensor is one slice.
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
  EBB_CHECK(source.dim() == x.dim(), op, ": source must have self's dimensions, got shapes ", source.sizes(),
            " and ", x.sizes(), ".");
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

}  // namespace ebb
