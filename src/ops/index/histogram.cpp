// bincount, histc, histogram, histogramdd, searchsorted, bucketize and isin. The bins of histogram and
// histogramdd have arbitrary edges.
#include <ebb/autograd/grad_mode.h>
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
namespace {

/// Points [n, d] of a floating-point dtype, and optionally one weight for each point.
struct Points {
  const char* op;
  Variable x, weight;
};

Points points_of(const char* op, const Variable& self, const optional<Variable>& weight, bool one_dimension) {
  EBB_CHECK(self.defined() && (self.dtype() == kFloat || self.dtype() == kDouble), op,
            ": expected a tensor of Float or Double, got ", self, ". Convert it with .to(kFloat).");
  EBB_CHECK(one_dimension || self.dim() >= 2, op,
            ": expected points (..., coordinates) of at least two dimensions, got shape ", self.sizes(), ".");
  const std::int64_t d = one_dimension ? 1 : self.size(-1);
  EBB_CHECK(d > 0, op, ": expected points of at least one coordinate, got shape ", self.sizes(), ".");
  Points points{op, self.detach().reshape({self.numel() / d, d}), {}};
  if (!weight || !weight->defined()) return points;
  ops::check_same_dtype(op, self, *weight);
  ops::common_device(op, self, *weight);
  const IntArrayRef wanted =
      one_dimension ? self.sizes() : self.sizes().slice(0, static_cast<std::size_t>(self.dim() - 1));
  EBB_CHECK(weight->sizes() == wanted, op, ": expected one weight for each point, of shape ", wanted,
            ", got ", weight->sizes(), ".");
  points.weight = weight->detach().reshape({-1});
  return points;
}

/// Returns the edges of `bins` bins of equal width over the range of one dimension.
Variable equal_edges(const Points& points, std::int64_t dim, std::int64_t bins,
                     optional<ArrayRef<double>> range) {
  EBB_CHECK(bins > 0, points.op, ": bins must be > 0, got ", bins, " for dimension ", dim, ".");
  double low = 0, high = 1;
  if (range) {
    low = (*range)[2 * dim];
    high = (*range)[2 * dim + 1];
  } else if (points.x.size(0) > 0) {
    const Variable column = points.x.select(1, dim);
    low = column.min().item<double>();
    high = column.max().item<double>();
  }
  EBB_CHECK(std::isfinite(low) && std::isfinite(high), points.op, ": dimension ", dim, "'s range [", low,
            ", ", high, "] is not finite.");
  EBB_CHECK(low <= high, points.op, ": min should not exceed max, got ", low, " and ", high,
            " for dimension ", dim, ".");
  if (low == high) low -= 0.5, high += 0.5;
  return linspace(low, high, bins + 1, points.x.options());
}

Variable checked_edges(const Points& points, const Variable& edges) {
  EBB_CHECK(edges.defined() && edges.dim() == 1 && edges.size(0) > 1, points.op,
            ": expected the edges of bins as a vector of at least two numbers, got ", edges, ".");
  ops::check_same_dtype(points.op, points.x, edges);
  ops::common_device(points.op, points.x, edges);
  return edges.detach().contiguous();
}

/// Returns the counts (or densities) of the bins of all dimensions.
Variable counts(const Points& points, const std::vector<Variable>& edges, bool density) {
  Variable place, inside;
  DimVector sizes;
  std::int64_t all = 1;
  for (std::size_t d = 0; d < edges.size(); ++d) {
    const std::int64_t bins = edges[d].size(0) - 1;
    const Variable x = points.x.select(1, static_cast<std::int64_t>(d)).contiguous();
    const Variable bin = (searchsorted(edges[d], x, false, true) - 1).clamp(0, bins - 1);
    const Variable within = x.ge(edges[d][0]).logical_and(x.le(edges[d][bins]));
    place = d == 0 ? bin : place * bins + bin;
    inside = d == 0 ? within : inside.logical_and(within);
    sizes.push_back(bins);
    all *= bins;
  }
  const Variable weight = points.weight.defined() ? points.weight : ones_like(points.x.select(1, 0));
  // The counts are in double, because a float counts only to 2^24.
  Variable sums = zeros({all}, points.x.options().dtype(kDouble))
                      .scatter_add_(0, place, where(inside, weight, 0).to(kDouble))
                      .view(sizes);
  if (density) {
    sums = sums / sums.sum();
    for (std::size_t d = 0; d < edges.size(); ++d) {
      DimVector shape(edges.size(), 1);
      shape[d] = sizes[d];
      sums = sums / diff(edges[d]).to(kDouble).view(shape);
    }
  }
  return sums.to(points.x.dtype());
}

using Histogram = std::tuple<Variable, std::vector<Variable>>;

Histogram equal_bins(const Points& points, IntArrayRef bins, optional<ArrayRef<double>> range, bool density) {
  const std::size_t dims = static_cast<std::size_t>(points.x.size(1));
  EBB_CHECK(bins.size() == dims, points.op, ": expected ", dims,
            " numbers of bins, one for each dimension, got ", bins.size(), ".");
  EBB_CHECK(!range || range->size() == 2 * dims, points.op, ": expected a range of ", 2 * dims,
            " numbers, the least and the greatest of each dimension, got ", range ? range->size() : 0, ".");
  std::vector<Variable> edges;
  for (std::size_t d = 0; d < dims; ++d)
    edges.push_back(equal_edges(points, static_cast<std::int64_t>(d), bins[d], range));
  Variable sums = counts(points, edges, density);
  return {std::move(sums), std::move(edges)};
}

}  // namespace

std::tuple<Variable, Variable> histogram(const Variable& self, const Variable& bins,
                                         const optional<Variable>& weight, bool density) {
  const NoGradGuard no_grad;
  const Points points = points_of("histogram", self, weight, true);
  const Variable edges = checked_edges(points, bins);
  return {counts(points, {edges}, density), edges};
}
std::tuple<Variable, Variable> histogram(const Variable& self, std::int64_t bins,
                                         optional<ArrayRef<double>> range, const optional<Variable>& weight,
                                         bool density) {
  const NoGradGuard no_grad;
  auto [sums, edges] = equal_bins(points_of("histogram", self, weight, true), {bins}, range, density);
  return {std::move(sums), std::move(edges[0])};
}

Histogram histogramdd(const Variable& self, IntArrayRef bins, optional<ArrayRef<double>> range,
                      const optional<Variable>& weight, bool density) {
  const NoGradGuard no_grad;
  return equal_bins(points_of("histogramdd", self, weight, false), bins, range, density);
}
Histogram histogramdd(const Variable& self, std::int64_t bins, optional<ArrayRef<double>> range,
                      const optional<Variable>& weight, bool density) {
  const NoGradGuard no_grad;
  const Points points = points_of("histogramdd", self, weight, false);
  return equal_bins(points, DimVector(static_cast<std::size_t>(points.x.size(1)), bins), range, density);
}
Histogram histogramdd(const Variable& self, TensorList bins, optional<ArrayRef<double>>,
                      const optional<Variable>& weight, bool density) {
  const NoGradGuard no_grad;
  const Points points = points_of("histogramdd", self, weight, false);
  EBB_CHECK(static_cast<std::int64_t>(bins.size()) == points.x.size(1), "histogramdd: expected ",
            points.x.size(1), " vectors of edges, one for each dimension, got ", bins.size(), ".");
  std::vector<Variable> edges;
  for (const Variable& e : bins) edges.push_back(checked_edges(points, e));
  Variable sums = counts(points, edges, density);
  return {std::move(sums), std::move(edges)};
}

Variable bincount(const Variable& self, const optional<Variable>& weights, std::int64_t minlength) {
  EBB_CHECK(self.dim() == 1 && is_integral(self.dtype()),
            "bincount: only supports 1-d non-negative integral inputs, got ", self, ".");
  EBB_CHECK(minlength >= 0, "bincount: minlength should be >= 0, got ", minlength, ".");
  const bool weighted = weights && weights->defined();
  EBB_CHECK(!weighted || weights->sizes() == self.sizes(),
            "bincount: expected one weight for each element, of shape ", self.sizes(), ", got ",
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
  // The conversion to Long rounds down, because the clamped numbers are not negative. The last bin counts NaN
  // and numbers outside the range.
  const Variable outside = x.clamp(low, high).ne(x);
  const Variable bin = (x - low).mul_(static_cast<double>(bins) / (high - low)).clamp_(0, bins - 1);
  const Variable places = bin.masked_fill_(outside, bins).to(kLong);
  return zeros({bins + 1}, places.options())
      .scatter_add_(0, places, ones({1}, places.options()).expand(places.sizes()))
      .narrow(0, 0, bins)
      .to(self.dtype());
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
  EBB_CHECK(dims == 1 || matching, "searchsorted: the sequences of shape ", sorted_sequence.sizes(),
            " should be one-dimensional or have the leading dimensions of the values, whose shape is ",
            self.sizes(), ".");
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
