// histogram and histogramdd: bins with arbitrary edges, in any number of dimensions.
#include <ebb/autograd/grad_mode.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/index.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>

#include "ops/common/checks.h"

#include <cmath>

namespace ebb {
namespace {

/// Points [n, d] of a floating-point dtype, and optionally a weight for each.
struct Points {
  const char* op;
  Variable x, weight;
};

Points points_of(const char* op, const Variable& self, const optional<Variable>& weight, bool one_dimension) {
  EBB_CHECK(self.defined() && (self.dtype() == kFloat || self.dtype() == kDouble), op,
            ": expected a tensor of Float or Double, got ", self, ". Convert it with .to(kFloat).");
  EBB_CHECK(one_dimension || self.dim() >= 2, op,
            ": expected points, at least two dimensions of which the last has "
            "their coordinates, got shape ",
            self.sizes(), ".");
  const std::int64_t d = one_dimension ? 1 : self.size(-1);
  EBB_CHECK(d > 0, op, ": expected points of at least one coordinate, got shape ", self.sizes(), ".");
  Points points{op, self.detach().reshape({self.numel() / d, d}), {}};
  if (!weight || !weight->defined()) return points;
  ops::check_same_dtype(op, self, *weight);
  ops::common_device(op, self, *weight);
  const IntArrayRef wanted =
      one_dimension ? self.sizes() : self.sizes().slice(0, static_cast<std::size_t>(self.dim() - 1));
  EBB_CHECK(weight->sizes() == wanted, op, ": expected one weight for each point, shape ", wanted, ", got ",
            weight->sizes(), ".");
  points.weight = weight->detach().reshape({-1});
  return points;
}

/// Returns the edges of equal bins over the range of one dimension.
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
  // Counts in double, because a float counts only to 2^24.
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

}  // namespace ebb
