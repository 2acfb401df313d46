// sort, topk, median, quantile, unique, searchsorted: ops on the order of elements. NaN counts as larger than
// every number.
#pragma once

#include <ebb/autograd/variable.h>

#include <string_view>

namespace ebb {

/// Sorts the elements along `dim`. Returns values and indices (Long). The sort is always stable. (torch.sort)
EBB_API std::tuple<Variable, Variable> sort(const Variable& self, std::int64_t dim = -1,
                                            bool descending = false);
EBB_API std::tuple<Variable, Variable> sort(const Variable& self, optional<bool> stable,
                                            std::int64_t dim = -1, bool descending = false);
/// Returns the indices of sort. (torch.argsort)
EBB_API Variable argsort(const Variable& self, std::int64_t dim = -1, bool descending = false);
EBB_API Variable argsort(const Variable& self, bool stable, std::int64_t dim = -1, bool descending = false);
/// Sorts along the first dimension, without indices. (torch.msort)
EBB_API Variable msort(const Variable& self);
/// Returns the k largest (or smallest) elements along `dim`, sorted, and their indices. Throws if k exceeds
/// the size of `dim`. (torch.topk)
EBB_API std::tuple<Variable, Variable> topk(const Variable& self, std::int64_t k, std::int64_t dim = -1,
                                            bool largest = true, bool sorted = true);
/// Returns the k-th smallest element along `dim`, counted from 1, and its index. (torch.kthvalue)
EBB_API std::tuple<Variable, Variable> kthvalue(const Variable& self, std::int64_t k, std::int64_t dim = -1,
                                                bool keepdim = false);
/// Returns the median, the lower of two middle elements; NaN if an element is NaN. If self has no elements,
/// the median of a floating tensor is NaN, and integers throw. Along a dimension of size 0 every dtype
/// throws. (torch.median)
EBB_API Variable median(const Variable& self);
EBB_API std::tuple<Variable, Variable> median(const Variable& self, std::int64_t dim, bool keepdim = false);
/// Returns the median of the elements that are not NaN. (torch.nanmedian)
EBB_API Variable nanmedian(const Variable& self);
EBB_API std::tuple<Variable, Variable> nanmedian(const Variable& self, std::int64_t dim,
                                                 bool keepdim = false);
/// Returns the most frequent element along `dim` (the smallest one of ties), and its last index. Throws if
/// the size of `dim` is 0. (torch.mode)
EBB_API std::tuple<Variable, Variable> mode(const Variable& self, std::int64_t dim = -1,
                                            bool keepdim = false);

/// Returns the q-quantiles, 0 <= q <= 1, over all elements or along `dim`. Several q give a new first
/// dimension. Interpolation between neighbours is "linear", "lower", "higher", "midpoint" or "nearest". NaN
/// gives NaN. Throws without elements. (torch.quantile)
EBB_API Variable quantile(const Variable& self, const Variable& q, optional<std::int64_t> dim = nullopt,
                          bool keepdim = false, std::string_view interpolation = "linear");
EBB_API Variable quantile(const Variable& self, double q, optional<std::int64_t> dim = nullopt,
                          bool keepdim = false, std::string_view interpolation = "linear");

/// Returns quantile() of the elements that are not NaN; NaN if there are none. (torch.nanquantile)
EBB_API Variable nanquantile(const Variable& self, const Variable& q, optional<std::int64_t> dim = nullopt,
                             bool keepdim = false, std::string_view interpolation = "linear");
EBB_API Variable nanquantile(const Variable& self, double q, optional<std::int64_t> dim = nullopt,
                             bool keepdim = false, std::string_view interpolation = "linear");

/// Returns the distinct elements in ascending order, for each element of self its index in them (inverse),
/// and how often each occurs (counts). Results that are not requested are empty. Not differentiable.
/// (torch.unique)
EBB_API std::tuple<Variable, Variable> _unique(const Variable& self, bool sorted = true,
                                               bool return_inverse = false);
EBB_API std::tuple<Variable, Variable, Variable> _unique2(const Variable& self, bool sorted = true,
                                                          bool return_inverse = false,
                                                          bool return_counts = false);
/// Returns the distinct slices along `dim` in lexicographic order. (torch.unique with dim)
EBB_API std::tuple<Variable, Variable, Variable> unique_dim(const Variable& self, std::int64_t dim,
                                                            bool sorted = true, bool return_inverse = false,
                                                            bool return_counts = false);
/// Merges runs of equal elements (or slices along `dim`). (torch.unique_consecutive)
EBB_API std::tuple<Variable, Variable, Variable> unique_consecutive(const Variable& self,
                                                                    bool return_inverse = false,
                                                                    bool return_counts = false,
                                                                    optional<std::int64_t> dim = nullopt);

inline std::tuple<Variable, Variable, Variable> unique_dim_consecutive(const Variable& self, std::int64_t dim,
                                                                       bool return_inverse = false,
                                                                       bool return_counts = false) {
  return unique_consecutive(self, return_inverse, return_counts, dim);
}

/// Returns the indices at which values would be inserted into a sorted sequence: before equal elements, or
/// after them if `right`. If the sequence has several dimensions, each row of values uses the row of the
/// sequence with the same leading indices. `side` "left" or "right" has the same meaning as `right`.
/// (torch.searchsorted)
EBB_API Variable searchsorted(const Variable& sorted_sequence, const Variable& self, bool out_int32 = false,
                              bool right = false, optional<std::string_view> side = nullopt,
                              const optional<Variable>& sorter = {});
EBB_API Variable searchsorted(const Variable& sorted_sequence, const Scalar& self, bool out_int32 = false,
                              bool right = false, optional<std::string_view> side = nullopt,
                              const optional<Variable>& sorter = {});
/// Returns, as Bool, whether each element occurs among the test elements. `invert` negates the result.
/// assume_unique is ignored. Throws for Bool tensors. (torch.isin)
EBB_API Variable isin(const Variable& elements, const Variable& test_elements, bool assume_unique = false,
                      bool invert = false);
EBB_API Variable isin(const Variable& elements, const Scalar& test_element, bool assume_unique = false,
                      bool invert = false);
EBB_API Variable isin(const Scalar& element, const Variable& test_elements, bool assume_unique = false,
                      bool invert = false);
/// searchsorted with the arguments in the opposite order. (torch.bucketize)
EBB_API Variable bucketize(const Variable& self, const Variable& boundaries, bool out_int32 = false,
                           bool right = false);
EBB_API Variable bucketize(const Scalar& self, const Variable& boundaries, bool out_int32 = false,
                           bool right = false);

}  // namespace ebb
