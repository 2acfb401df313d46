// bincount, histc, histogram and segment_reduce.
#pragma once

#include <ebb/autograd/variable.h>

#include <string_view>
#include <tuple>
#include <vector>

namespace ebb {

/// Counts how often each of 0, 1, ... occurs in a one-dimensional integer tensor. With `weights`, sums the
/// weights instead. The result has at least `minlength` entries. Throws for negative values. (torch.bincount)
EBB_API Variable bincount(const Variable& self, const optional<Variable>& weights = {},
                          std::int64_t minlength = 0);
/// Counts the elements in each of `bins` equal intervals of [min, max]. If min equals max, uses the range of
/// the data. (torch.histc)
EBB_API Variable histc(const Variable& self, std::int64_t bins = 100, const Scalar& min = 0,
                       const Scalar& max = 0);

/// Counts the elements of self, or sums their `weight`, between consecutive edges of `bins`, an increasing
/// vector of k + 1 edges. Returns (counts [k], edges) in self's floating dtype. The last bin includes its
/// right edge; elements outside all bins are not counted. With `density` the integral over the bins is 1. No
/// derivatives. (torch.histogram; on CUDA too)
EBB_API std::tuple<Variable, Variable> histogram(const Variable& self, const Variable& bins,
                                                 const optional<Variable>& weight = {}, bool density = false);
/// Computes a histogram with `bins` equal bins over `range` = {min, max}. The default range is that of the
/// elements of self.
EBB_API std::tuple<Variable, Variable> histogram(const Variable& self, std::int64_t bins = 100,
                                                 optional<ArrayRef<double>> range = nullopt,
                                                 const optional<Variable>& weight = {}, bool density = false);
/// Computes a histogram of points [..., d] in d dimensions. Returns counts with d dimensions, and d vectors
/// of edges. `range` has two numbers for each dimension, and `weight` has one for each point.
/// (torch.histogramdd)
EBB_API std::tuple<Variable, std::vector<Variable>> histogramdd(const Variable& self, IntArrayRef bins,
                                                                optional<ArrayRef<double>> range = nullopt,
                                                                const optional<Variable>& weight = {},
                                                                bool density = false);
EBB_API std::tuple<Variable, std::vector<Variable>> histogramdd(const Variable& self, std::int64_t bins,
                                                                optional<ArrayRef<double>> range = nullopt,
                                                                const optional<Variable>& weight = {},
                                                                bool density = false);
/// Computes a histogram with given edges, one vector for each dimension. `range` is ignored.
EBB_API std::tuple<Variable, std::vector<Variable>> histogramdd(const Variable& self, TensorList bins,
                                                                optional<ArrayRef<double>> range = nullopt,
                                                                const optional<Variable>& weight = {},
                                                                bool density = false);

/// Reduces segments along `axis` to one element each, [..., n, ---] -> [..., s, ---]. Segments have `lengths`
/// [..., s], or their boundaries are `offsets` [..., s + 1]. `reduce` is sum, mean, max, min or prod.
/// `initial` is included in each segment, and is the value of an empty one (the default is 0, NaN, -inf, inf
/// and 1 respectively). The dimensions before `axis` equal those of lengths. `unsafe` skips the check that
/// lengths sum to n: elements after the last segment or before the first offset are then ignored. Floating
/// dtypes. (torch.segment_reduce)
EBB_API Variable segment_reduce(const Variable& data, std::string_view reduce,
                                const optional<Variable>& lengths = {},
                                const optional<Variable>& indices = {},
                                const optional<Variable>& offsets = {}, std::int64_t axis = 0,
                                bool unsafe = false, const optional<Scalar>& initial = nullopt);

}  // namespace ebb
