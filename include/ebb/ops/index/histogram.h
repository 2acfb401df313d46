// Counts and reductions of groups: histograms of values, and segments of neighbours.
#pragma once

#include <ebb/autograd/variable.h>

#include <string_view>
#include <tuple>
#include <vector>

namespace ebb {

/// How often each of 0, 1, ... occurs in a one-dimensional tensor of integers, or the sum of their weights;
/// at least `minlength` places. Throws for negative values. (torch.bincount)
EBB_API Variable bincount(const Variable& self, const optional<Variable>& weights = {},
                          std::int64_t minlength = 0);
/// How many elements fall into each of `bins` equal intervals of [min, max]; the range of the data if both
/// are equal. (torch.histc)
EBB_API Variable histc(const Variable& self, std::int64_t bins = 100, const Scalar& min = 0,
                       const Scalar& max = 0);

/// How many of self's elements, or what `weight` of them, lie between neighbours among `bins`, a vector of k
/// + 1 edges that grow: (counts [k], edges), in self's floating dtype. The last bin contains its right edge;
/// elements outside count nowhere. With `density` the integral over the bins is 1. No derivatives.
/// (torch.histogram; on CUDA too)
EBB_API std::tuple<Variable, Variable> histogram(const Variable& self, const Variable& bins,
                                                 const optional<Variable>& weight = {}, bool density = false);
/// `bins` equal bins over `range`, {least, greatest}: by default what self spans.
EBB_API std::tuple<Variable, Variable> histogram(const Variable& self, std::int64_t bins = 100,
                                                 optional<ArrayRef<double>> range = nullopt,
                                                 const optional<Variable>& weight = {}, bool density = false);
/// The same of points in d dimensions, [..., d]: (counts of d dimensions, d vectors of edges). `range` has
/// two numbers a dimension, `weight` one a point. (torch.histogramdd)
EBB_API std::tuple<Variable, std::vector<Variable>> histogramdd(const Variable& self, IntArrayRef bins,
                                                                optional<ArrayRef<double>> range = nullopt,
                                                                const optional<Variable>& weight = {},
                                                                bool density = false);
EBB_API std::tuple<Variable, std::vector<Variable>> histogramdd(const Variable& self, std::int64_t bins,
                                                                optional<ArrayRef<double>> range = nullopt,
                                                                const optional<Variable>& weight = {},
                                                                bool density = false);
/// The same between given edges, one vector a dimension; a `range` says nothing more, and goes unused.
EBB_API std::tuple<Variable, std::vector<Variable>> histogramdd(const Variable& self, TensorList bins,
                                                                optional<ArrayRef<double>> range = nullopt,
                                                                const optional<Variable>& weight = {},
                                                                bool density = false);

/// Reduces runs of neighbours along `axis`, of `lengths` [..., s] or between `offsets` [..., s + 1], to one
/// element each:
/// [..., n, ---] -> [..., s, ---]. `reduce` is sum, mean, max, min or prod; `initial` joins each segment,
/// whose value it is where a segment is empty (by default 0, NaN, -inf, inf and 1). The dimensions before
/// `axis` are those of lengths. `unsafe` leaves out the check that lengths add up to n: elements beyond them
/// go into no segment, nor do those before the first offset. Floating dtypes. (torch.segment_reduce)
EBB_API Variable segment_reduce(const Variable& data, std::string_view reduce,
                                const optional<Variable>& lengths = {},
                                const optional<Variable>& indices = {},
                                const optional<Variable>& offsets = {}, std::int64_t axis = 0,
                                bool unsafe = false, const optional<Scalar>& initial = nullopt);

}  // namespace ebb
