// sort, topk and the order statistics. kthvalue, median, nanmedian and mode select one element of each slice
// along the dimension; quantile and nanquantile interpolate in sorted rows.
#include <ebb/autograd/record.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/index.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>

#include "ops/common/arrays.h"
#include "ops/common/autocast.h"
#include "ops/common/checks.h"
#include "ops/common/dims.h"
#include "ops/common/kernels.h"
#include "ops/common/record.h"
#include "ops/common/values_indices.h"
#include "ops/index/sort_kernels.h"

#include <cmath>

namespace ebb {

namespace ops {
namespace {

using Pair = std::tuple<Variable, Variable>;

Pair sorted(const Variable& self, std::int64_t dim, bool descending, const char* name) {
  const std::int64_t d = wrap_dim("sort", dim, self.dim());
  const NdArray in = contiguous_array(self.array());
  NdArray values = NdArray::empty(in.sizes(), in.dtype(), in.device());
  NdArray indices = NdArray::empty(in.sizes(), kLong, in.device());
  kernels::sort(in.device(), values, indices, in, d, descending);
  return picked(self, std::move(values), std::move(indices), d, true, name);
}

Pair select_element(const char* op, const Variable& self, std::int64_t dim, bool keepdim, Selection what,
                    std::int64_t k, const char* name) {
  EBB_CHECK(self.dtype() != kBool || what == Selection::mode, op,
            ": does not take bool tensors; convert with .to(ebb::kByte).");
  const std::int64_t d = wrap_dim(op, dim, self.dim());
  const std::int64_t n = self.dim() == 0 ? 1 : self.size(d);
  EBB_CHECK_INDEX(n > 0, op, ": Expected reduction dim ", d, " to have non-zero size, got shape ",
                  self.sizes(), ".");
  EBB_CHECK(k >= 0 && k < n, op, ": selected number k out of range: expected 1 to ", n, ", got ", k + 1, ".");
  const NdArray in = contiguous_array(self.array());
  const DimVector sizes = reduced_sizes(in.sizes(), one_dim(op, self, d), keepdim);
  NdArray values = NdArray::empty(sizes, in.dtype(), in.device());
  NdArray indices = NdArray::empty(sizes, kLong, in.device());
  kernels::select_element(in.device(), values, indices, in, d, what, k);
  return picked(self, std::move(values), std::move(indices), d, keepdim, name);
}

struct MedianBackward : autograd::Node {
  autograd::SavedVariable self{this}, result{this};
  const char* title = "";
  std::string name() const override { return title; }
  autograd::GradList apply(autograd::GradList&& grads) override {
    return {share_evenly(grads[0], self.unpack(), result.unpack())};
  }
};

Variable median_of_all(const char* op, const Variable& self, Selection what, const char* name) {
  EBB_CHECK(self.dtype() != kBool, op, ": does not take bool tensors; convert with .to(ebb::kByte).");
  EBB_CHECK(self.numel() > 0 || is_floating(self.dtype()), op, ": there is no median of an empty ",
            self.dtype(), " tensor.");
  NdArray value = NdArray::empty({}, self.dtype(), self.device());
  if (self.numel() == 0) {
    kernels::fill(value.device(), value, NAN);
  } else {
    const NdArray in = contiguous_array(self.array());
    NdArray index = NdArray::empty({}, kLong, in.device());
    kernels::select_element(in.device(), value, index, in.as_strided({in.numel()}, {1}, in.offset()), 0, what,
                            0);
  }
  Variable result(std::move(value));
  if (const auto node = record_results<MedianBackward>({&result}, self)) {
    node->title = name;
    node->self.save(self);
    node->result.save_output(result);
  }
  return result;
}

}  // namespace
}  // namespace ops

std::tuple<Variable, Variable> sort(const Variable& self, std::int64_t dim, bool descending) {
  return ops::sorted(self, dim, descending, "SortBackward0");
}
std::tuple<Variable, Variable> sort(const Variable& self, optional<bool>, std::int64_t dim, bool descending) {
  return ops::sorted(self, dim, descending, "SortBackward1");
}
Variable argsort(const Variable& self, std::int64_t dim, bool descending) {
  return std::get<1>(sort(self.detach(), dim, descending));
}
Variable argsort(const Variable& self, bool, std::int64_t dim, bool descending) {
  return std::get<1>(sort(self.detach(), dim, descending));
}
Variable msort(const Variable& self) { return std::get<0>(sort(self, 0, false)); }

std::tuple<Variable, Variable> topk(const Variable& self, std::int64_t k, std::int64_t dim, bool largest,
                                    bool) {
  EBB_CHECK(self.dtype() != kBool, "topk: does not take bool tensors; convert with .to(ebb::kByte).");
  const std::int64_t d = wrap_dim("topk", dim, self.dim());
  const std::int64_t n = self.dim() == 0 ? 1 : self.size(d);
  EBB_CHECK(k >= 0 && k <= n, "topk: selected index k out of range: expected 0 to ", n, " for shape ",
            self.sizes(), " along dim ", d, ", got ", k, ".");
  const NdArray in = ops::contiguous_array(self.array());
  DimVector sizes(in.sizes());
  if (!sizes.empty()) sizes[d] = k;
  NdArray values = NdArray::empty(sizes, in.dtype(), in.device());
  NdArray indices = NdArray::empty(sizes, kLong, in.device());
  kernels::topk(in.device(), values, indices, in, d, largest);
  return ops::picked(self, std::move(values), std::move(indices), d, true, "TopkBackward0");
}

std::tuple<Variable, Variable> kthvalue(const Variable& self, std::int64_t k, std::int64_t dim,
                                        bool keepdim) {
  return ops::select_element("kthvalue", self, dim, keepdim, Selection::kth, k - 1, "KthvalueBackward0");
}
std::tuple<Variable, Variable> mode(const Variable& self, std::int64_t dim, bool keepdim) {
  return ops::select_element("mode", self, dim, keepdim, Selection::mode, 0, "ModeBackward0");
}
Variable median(const Variable& self) {
  return ops::median_of_all("median", self, Selection::median, "MedianBackward0");
}
std::tuple<Variable, Variable> median(const Variable& self, std::int64_t dim, bool keepdim) {
  return ops::select_element("median", self, dim, keepdim, Selection::median, 0, "MedianBackward1");
}
Variable nanmedian(const Variable& self) {
  return ops::median_of_all("nanmedian", self, Selection::nanmedian, "NanmedianBackward0");
}
std::tuple<Variable, Variable> nanmedian(const Variable& self, std::int64_t dim, bool keepdim) {
  return ops::select_element("nanmedian", self, dim, keepdim, Selection::nanmedian, 0, "NanmedianBackward1");
}

namespace {

// Computes quantiles along `dim`, or of all elements without `dim`. With skip_nan, NaN elements are ignored.
// Otherwise the quantiles of a row with a NaN are NaN.
Variable quantiles(const char* op, const Variable& self, const Variable& q, optional<std::int64_t> dim,
                   bool keepdim, std::string_view interpolation, bool skip_nan) {
  EBB_CHECK(self.dtype() == kFloat || self.dtype() == kDouble, op,
            ": input tensor must be either float or double, got ", self, ".");
  EBB_CHECK(self.numel() > 0, op, ": input tensor must be non-empty, got shape ", self.sizes(), ".");
  EBB_CHECK(q.dim() <= 1 && q.dtype() == self.dtype(), op,
            ": q must be a scalar or a 1D tensor of the input's dtype, got ", q, " for an input ", self, ".");
  ops::check_true(op, q.detach().ge(0).logical_and(q.detach().le(1)), "q must be in the range [0, 1].");
  const bool linear = interpolation == "linear", midpoint = interpolation == "midpoint";
  EBB_CHECK(linear || midpoint || interpolation == "lower" || interpolation == "higher" ||
                interpolation == "nearest",
            op, ": interpolation must be one of linear, lower, higher, midpoint or nearest, got ",
            interpolation, ".");
  const bool along = dim && self.dim() > 0;
  const std::int64_t d = dim ? wrap_dim(op, *dim, self.dim()) : 0;
  const Variable ordered = std::get<0>(sort(along ? self.movedim(d, -1) : self.reshape({-1}), -1));
  const std::int64_t n = ordered.size(-1);
  DimVector wide(ordered.sizes());
  wide.back() = q.numel();
  // NaN is sorted last.
  const Variable broken = skip_nan ? ordered.isnan().all(-1, true) : ordered.isnan().any(-1, true);
  const Variable ranks = q.reshape({-1});
  const Variable rank =
      skip_nan
          ? ranks * (ordered.detach().isnan().logical_not().sum({-1}, true) - 1).clamp_min(0).to(q.dtype())
          : (ranks * static_cast<double>(n - 1)).expand(wide);
  const auto at = [&](const Variable& place) { return ordered.gather(-1, place.detach().to(kLong)); };
  Variable result;
  if (linear || midpoint) {
    const Variable below = at(rank.floor()), above = at(rank.ceil());
    const Variable weight = midpoint ? full_like(rank, 0.5) : rank - rank.floor().detach();
    result = below + weight * (above - below);
  } else {
    result = at(interpolation == "lower"    ? rank.floor()
                : interpolation == "higher" ? rank.ceil()
                                            : rank.round());
  }
  result = where(broken, full_like(result, NAN), result);
  if (along) {
    result = result.movedim(-1, 0);
    if (keepdim) result = result.unsqueeze(d + 1);
  } else if (keepdim) {
    DimVector ones(static_cast<std::size_t>(self.dim()) + 1, 1);
    ones[0] = q.numel();
    result = result.reshape(ones);
  }
  return q.dim() == 0 ? result.squeeze(0) : result;
}
}  // namespace

Variable quantile(const Variable& self, const Variable& q, optional<std::int64_t> dim, bool keepdim,
                  std::string_view interpolation) {
  EBB_AUTOCAST(quantile, self, q, dim, keepdim, interpolation);
  return quantiles("quantile", self, q, dim, keepdim, interpolation, false);
}
Variable quantile(const Variable& self, double q, optional<std::int64_t> dim, bool keepdim,
                  std::string_view interpolation) {
  EBB_AUTOCAST(quantile, self, q, dim, keepdim, interpolation);
  EBB_CHECK(q >= 0 && q <= 1, "quantile: q must be in the range [0, 1], got ", q, ".");
  return quantile(self, full({}, q, self.options()), dim, keepdim, interpolation);
}

Variable nanquantile(const Variable& self, const Variable& q, optional<std::int64_t> dim, bool keepdim,
                     std::string_view interpolation) {
  EBB_AUTOCAST(nanquantile, self, q, dim, keepdim, interpolation);
  return quantiles("nanquantile", self, q, dim, keepdim, interpolation, true);
}
Variable nanquantile(const Variable& self, double q, optional<std::int64_t> dim, bool keepdim,
                     std::string_view interpolation) {
  EBB_AUTOCAST(nanquantile, self, q, dim, keepdim, interpolation);
  EBB_CHECK(q >= 0 && q <= 1, "nanquantile: q must be in the range [0, 1], got ", q, ".");
  return nanquantile(self, full({}, q, self.options()), dim, keepdim, interpolation);
}

}  // namespace ebb
