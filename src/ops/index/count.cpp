// bincount, histc and searchsorted.
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/index.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>

#include "ops/common/arrays.h"
#include "ops/common/checks.h"
#include "ops/common/dims.h"
#include "ops/index/sort_kernels.h"

#include <cmath>

namespace ebb {

Variable bincount(const Variable& self, const optional<Variable>& weights, std::int64_t minlength) {
  EBB_CHECK(self.dim() == 1 && is_integral(self.dtype()),
            "bincount: only supports 1-d non-negative integral inputs, got ", self, ".");
  EBB_CHECK(minlength >= 0, "bincount: minlength should be >= 0, got ", minlength, ".");
  const bool weighted = weights && weights->defined();
  EBB_CHECK(!weighted || weights->sizes() == self.sizes(),
            "bincount: expected one weight for each element, shape ", self.sizes(), ", got ",
            weighted ? weights->sizes() : IntArrayRef(), ".");
  const Variable places = self.detach().to(kLong);
  std::int64_t bins = minlength;
  if (self.numel() > 0) {
    EBB_CHECK(places.min().item<std::int64_t>() >= 0,
              "bincount: only supports 1-d non-negative integral inputs, got ",
              places.min().item<std::int64_t>(), ".");
    bins = std::max(bins, places.max().item<std::int64_t>() + 1);
  }
  if (!weighted)
    return zeros({bins}, places.options())
        .scatter_add_(0, places, ones({1}, places.options()).expand(places.sizes()));
  const Variable w = weights->detach();
  const Variable values = w.dtype() == kFloat || w.dtype() == kDouble ? w : w.to(kDouble);
  return zeros({bins}, values.options()).scatter_add_(0, places, values);
}

Variable histc(const Variable& self, std::int64_t bins, const Scalar& min, const Scalar& max) {
  EBB_CHECK(is_floating(self.dtype()), "histc: expected a floating-point tensor, got ", self, ".");
  EBB_CHECK(bins > 0, "histc: bins must be > 0, got ", bins, ".");
  const Variable x = self.detach().reshape({-1}).to(kDouble);
  double low = min.to_double(), high = max.to_double();
  if (low == high && x.numel() > 0) {
    low = x.min().item<double>();
    high = x.max().item<double>();
  }
  if (low == high) low -= 1, high += 1;
  EBB_CHECK(std::isfinite(low) && std::isfinite(high), "histc: range of [", low, ", ", high,
            "] is not finite.");
  EBB_CHECK(low < high, "histc: max must be larger than min, got [", low, ", ", high, "].");
  const Variable inside = x.ge(low).logical_and(x.le(high));
  const Variable bin = ((x - low) * (static_cast<double>(bins) / (high - low))).floor().clamp(0, bins - 1);
  const Variable places = where(inside, bin, zeros_like(bin)).to(kLong);
  return zeros({bins}, x.options()).scatter_add_(0, places, inside.to(kDouble)).to(self.dtype());
}

Variable searchsorted(const Variable& sorted_sequence, const Variable& self, bool out_int32, bool right,
                      optional<std::string_view> side, const optional<Variable>& sorter) {
  EBB_CHECK(!side || *side == "left" || *side == "right",
            "searchsorted: side can only be 'left' or 'right', got ", side.value_or(""), ".");
  EBB_CHECK(!(side && *side == "left" && right), "searchsorted: side and right can't be set to opposites.");
  const Device device = ops::common_device("searchsorted", sorted_sequence, self);
  Variable sequence = sorted_sequence.detach();
  if (sorter && sorter->defined()) {
    EBB_CHECK(sorter->sizes() == sequence.sizes() && sorter->dtype() == kLong,
              "searchsorted: expected a sorter of dtype Long and of the sorted sequence's shape ",
              sequence.sizes(), ", got ", sorter->dtype(), " of shape ", sorter->sizes(),
              ". Pass the indices of sort().");
  }
  if (sorter && sorter->defined()) sequence = sequence.gather(-1, *sorter);
  const std::int64_t dims = sequence.dim();
  EBB_CHECK(dims >= 1, "searchsorted: expected a sorted sequence of at least one dimension, got ",
            sorted_sequence, ".");
  const bool matching = dims == self.dim() && sequence.sizes().slice(0, static_cast<std::size_t>(dims - 1)) ==
                                                  self.sizes().slice(0, static_cast<std::size_t>(dims - 1));
  EBB_CHECK(dims == 1 || matching, "searchsorted: the sequences, shape ", sorted_sequence.sizes(),
            ", should be one-dimensional or have the leading dimensions of the values, shape ", self.sizes(),
            ".");
  const DType type = promote_types(sequence.dtype(), self.dtype());
  const NdArray lines = ops::contiguous_array(sequence.array(), {type});
  const NdArray values = ops::contiguous_array(self.array(), {type});
  const std::int64_t n = sequence.size(-1), count = dims == 1 ? 1 : n == 0 ? 0 : lines.numel() / n;
  const std::int64_t m = dims == 1 ? values.numel() : self.size(-1);
  NdArray out = NdArray::empty(self.sizes(), kLong, device);
  kernels::searchsorted(device, out, lines.as_strided({count, n}, {n, 1}, lines.offset()),
                        values.as_strided({m == 0 ? 0 : values.numel() / m, m}, {m, 1}, values.offset()),
                        right || (side && *side == "right"));
  return Variable(out_int32 ? ops::cast_array(out, kInt) : std::move(out));
}
Variable searchsorted(const Variable& sorted_sequence, const Scalar& self, bool out_int32, bool right,
                      optional<std::string_view> side, const optional<Variable>& sorter) {
  return searchsorted(sorted_sequence, full({}, self, sorted_sequence.options()), out_int32, right, side,
                      sorter);
}
Variable isin(const Variable& elements, const Variable& test_elements, bool, bool invert) {
  const DType dtype = result_type(elements, test_elements);
  EBB_CHECK(elements.dtype() != kBool && test_elements.dtype() != kBool,
            "isin: Bool tensors are not supported, got ", elements, " and ", test_elements, ".");
  NoGradGuard no_grad;
  if (test_elements.numel() == 0) return full(elements.sizes(), invert, elements.options().dtype(kBool));
  const Variable sorted = std::get<0>(sort(test_elements.to(dtype).flatten(), 0)), x = elements.to(dtype);
  const Variable place = searchsorted(sorted, x).clamp_max_(sorted.numel() - 1);
  const Variable candidate = sorted.index_select(0, place.flatten()).view(x.sizes());
  return invert ? ne(x, candidate) : eq(x, candidate);
}
Variable isin(const Variable& elements, const Scalar& test_element, bool, bool invert) {
  EBB_CHECK(elements.dtype() != kBool, "isin: Bool tensors are not supported, got ", elements, ".");
  return invert ? ne(elements, test_element) : eq(elements, test_element);
}
Variable isin(const Scalar& element, const Variable& test_elements, bool assume_unique, bool invert) {
  return isin(full({}, element, test_elements.options()), test_elements, assume_unique, invert);
}

Variable bucketize(const Variable& self, const Variable& boundaries, bool out_int32, bool right) {
  EBB_CHECK(boundaries.dim() == 1, "bucketize: boundaries must be one-dimensional, got ", boundaries, ".");
  return searchsorted(boundaries, self, out_int32, right);
}
Variable bucketize(const Scalar& self, const Variable& boundaries, bool out_int32, bool right) {
  return bucketize(full({}, self, boundaries.options()), boundaries, out_int32, right);
}

}  // namespace ebb
