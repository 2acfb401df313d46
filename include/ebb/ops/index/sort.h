// Order along one dimension: sorting, selecting, and finding what differs. NaN counts as larger than every
// number.
#pragma once

#include <ebb/autograd/variable.h>

#include <string_view>

namespace ebb {

/// The elements of each line in order, and where they stood (Long). Equal elements keep their order, whether
/// asked to or not. (torch.sort)
EBB_API std::tuple<Variable, Variable> sort(const Variable& self, std::int64_t dim = -1,
                                            bool descending = false);
EBB_API std::tuple<Variable, Variable> sort(const Variable& self, optional<bool> stable,
                                            std::int64_t dim = -1, bool descending = false);
/// The indices of sort. (torch.argsort)
EBB_API Variable argsort(const Variable& self, std::int64_t dim = -1, bool descending = false);
EBB_API Variable argsort(const Variable& self, bool stable, std::int64_t dim = -1, bool descending = false);
/// sort along the first dimension, without the indices. (torch.msort)
EBB_API Variable msort(const Variable& self);
/// The k largest (or smallest) elements of each line, in order, and where they stand. Throws when k exceeds
/// the line. (torch.topk)
EBB_API std::tuple<Variable, Variable> topk(const Variable& self, std::int64_t k, std::int64_t dim = -1,
                                            bool largest = true, bool sorted = true);
/// The k-th smallest element of each line, counted from 1, and where it stands. (torch.kthvalue)
EBB_API std::tuple<Variable, Variable> kthvalue(const Variable& self, std::int64_t k, std::int64_t dim = -1,
                                                bool keepdim = false);
/// The middle element, the lower of two; NaN if there is one. Over nothing NaN, but integers
/// throw; along a dimension of size 0 every dtype does. (torch.median)
EBB_API Variable median(const Variable& self);
EBB_API std::tuple<Variable, Variable> median(const Variable& self, std::int64_t dim, bool keepdim = false);
/// The median of what is not NaN. (torch.nanmedian)
EBB_API Variable nanmedian(const Variable& self);
EBB_API std::tuple<Variable, Variable> nanmedian(const Variable& self, std::int64_t dim,
                                                 bool keepdim = false);
/// The most frequent element of each line, the smallest of several, and where it last stands. Throws over
/// nothing. (torch.mode)
EBB_API std::tuple<Variable, Variable> mode(const Variable& self, std::int64_t dim = -1,
                                            bool keepdim = false);

/// The q-quantiles, 0 <= q <= 1, over all elements or along `dim`; several q make a new first dimension.
/// Interpolation "linear", "lower", "higher", "midpoint" or "nearest" between neighbours. NaN gives NaN.
/// Throws over nothing. (torch.quantile)
EBB_API Variable quantile(const Variable& self, const Variable& q, optional<std::int64_t> dim = nullopt,
                          bool keepdim = false, std::string_view interpolation = "linear");
EBB_API Variable quantile(const Variable& self, double q, optional<std::int64_t> dim = nullopt,
                          bool keepdim = false, std::string_view interpolation = "linear");

/// quantile() of the elements that are not NaN; NaN where there is none. (torch.nanquantile)
EBB_API Variable nanquantile(const Variable& self, const Variable& q, optional<std::int64_t> dim = nullopt,
                             bool keepdim = false, std::string_view interpolation = "linear");
EBB_API Variable nanquantile(const Variable& self, double q, optional<std::int64_t> dim = nullopt,
                             bool keepdim = false, std::string_view interpolation = "linear");

/// The different elements in order; for each element of self the place of its value there; how often each
/// occurs. What is not asked for is empty. Not differentiable. (torch.unique)
EBB_API std::tuple<Variable, Variable> _unique(const Variable& self, bool sorted = true,
                                               bool return_inverse = false);
EBB_API std::tuple<Variable, Variable, Variable> _unique2(const Variable& self, bool sorted = true,
                                                          bool return_inverse = false,
                                                          bool return_counts = false);
/// The different slices along `dim`, in lexicographic order. (torch.unique with dim)
EBB_API std::tuple<Variable, Variable, Variable> unique_dim(const Variable& self, std::int64_t dim,
                                                            bool sorted = true, bool return_inverse = false,
                                                            bool return_counts = false);
/// Runs of equal elements (or slices along `dim`) made one. (torch.unique_consecutive)
EBB_API std::tuple<Variable, Variable, Variable> unique_consecutive(const Variable& self,
                                                                    bool return_inverse = false,
                                                                    bool return_counts = false,
                                                                    optional<std::int64_t> dim = nullopt);

inline std::tuple<Variable, Variable, Variable> unique_dim_consecutive(const Variable& self, std::int64_t dim,
                                                                       bool return_inverse = false,
                                                                       bool return_counts = false) {
  return unique_consecutive(self, return_inverse, return_counts, dim);
}

/// Where values would be inserted into a sorted sequence (or lines of one, of the same leading shape): before
/// equals, or after them if `right`. `side` "left" or "right" says the same. (torch.searchsorted)
EBB_API Variable searchsorted(const Variable& sorted_sequence, const Variable& self, bool out_int32 = false,
                              bool right = false, optional<std::string_view> side = nullopt,
                              const optional<Variable>& sorter = {});
EBB_API Variable searchsorted(const Variable& sorted_sequence, const Scalar& self, bool out_int32 = false,
                              bool right = false, optional<std::string_view> side = nullopt,
                              const optional<Variable>& sorter = {});
/// Which elements are found among the test elements, as Bool; those that are not with `invert`. assume_unique
/// is a hint to torch. Throws for Bool tensors. (torch.isin)
EBB_API Variable isin(const Variable& elements, const Variable& test_elements, bool assume_unique = false,
                      bool invert = false);
EBB_API Variable isin(const Variable& elements, const Scalar& test_element, bool assume_unique = false,
                      bool invert = false);
EBB_API Variable isin(const Scalar& element, const Variable& test_elements, bool assume_unique = false,
                      bool invert = false);
/// searchsorted with the arguments the other way round. (torch.bucketize)
EBB_API Variable bucketize(const Variable& self, const Variable& boundaries, bool out_int32 = false,
                           bool right = false);
EBB_API Variable bucketize(const Scalar& self, const Variable& boundaries, bool out_int32 = false,
                           bool right = false);

}  // namespace ebb
