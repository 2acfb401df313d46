// gather, scatter, index_select, masked_fill and others: read and write elements by index tensors and masks.
#pragma once

#include <ebb/autograd/variable.h>

#include <string_view>
#include <vector>

namespace ebb {

// If an element is indexed several times, its gradients are summed, in an order independent of the number of
// threads.

/// Returns out[i][j] = x[index[i][j]][j] (dim 0), in the shape of `index`. Throws IndexError for an index
/// outside [0, size). Here and in the scatter ops `index` is Long or Int; an empty one may have any dtype.
/// (torch.gather)
EBB_API Variable gather(const Variable& x, std::int64_t dim, const Variable& index, bool sparse_grad = false);
/// Returns a copy of x with out[index[i][j]][j] = src[i][j] (dim 0). src may also be a scalar. If an index
/// occurs several times, the last value remains. With `reduce` "add" or "multiply", src is added to the old
/// value or multiplied with it instead. (torch.scatter)
EBB_API Variable scatter(const Variable& x, std::int64_t dim, const Variable& index, const Variable& src);
EBB_API Variable scatter(const Variable& x, std::int64_t dim, const Variable& index, const Scalar& value);
EBB_API Variable scatter(const Variable& x, std::int64_t dim, const Variable& index, const Variable& src,
                         std::string_view reduce);
EBB_API Variable scatter(const Variable& x, std::int64_t dim, const Variable& index, const Scalar& value,
                         std::string_view reduce);
EBB_API Variable& scatter_(const Variable& x, std::int64_t dim, const Variable& index, const Variable& src);
EBB_API Variable& scatter_(const Variable& x, std::int64_t dim, const Variable& index, const Scalar& value);
EBB_API Variable& scatter_(const Variable& x, std::int64_t dim, const Variable& index, const Variable& src,
                           std::string_view reduce);
EBB_API Variable& scatter_(const Variable& x, std::int64_t dim, const Variable& index, const Scalar& value,
                           std::string_view reduce);
/// Returns a copy of x with out[index[i][j]][j] += src[i][j] (dim 0). (torch.scatter_add)
EBB_API Variable scatter_add(const Variable& x, std::int64_t dim, const Variable& index, const Variable& src);
EBB_API Variable& scatter_add_(const Variable& x, std::int64_t dim, const Variable& index,
                               const Variable& src);
/// scatter reduced by "sum", "prod", "mean", "amax" or "amin". The values of x are included unless
/// include_self is false. For amax and amin, ties share the gradient. The gradient of prod is exact at zeros,
/// to any order. (torch.scatter_reduce)
EBB_API Variable scatter_reduce(const Variable& x, std::int64_t dim, const Variable& index,
                                const Variable& src, std::string_view reduce, bool include_self = true);
EBB_API Variable& scatter_reduce_(const Variable& x, std::int64_t dim, const Variable& index,
                                  const Variable& src, std::string_view reduce, bool include_self = true);

/// Selects slices along `dim` with a Long or Int vector. (torch.index_select)
EBB_API Variable index_select(const Variable& x, std::int64_t dim, const Variable& index);
/// Returns x with alpha * source added to the indexed slices. (torch.index_add)
EBB_API Variable index_add(const Variable& x, std::int64_t dim, const Variable& index, const Variable& source,
                           const Scalar& alpha = 1);
EBB_API Variable& index_add_(const Variable& x, std::int64_t dim, const Variable& index,
                             const Variable& source, const Scalar& alpha = 1);
/// Returns x with the slices of source reduced into the indexed slices by "prod", "mean", "amax" or "amin".
/// The values of x are included unless include_self is false. Derivatives are those of scatter_reduce.
/// (torch.index_reduce)
EBB_API Variable index_reduce(const Variable& x, std::int64_t dim, const Variable& index,
                              const Variable& source, std::string_view reduce, bool include_self = true);
EBB_API Variable& index_reduce_(const Variable& x, std::int64_t dim, const Variable& index,
                                const Variable& source, std::string_view reduce, bool include_self = true);
/// Returns x with the indexed slices replaced by the slices of source. (torch.index_copy)
EBB_API Variable index_copy(const Variable& x, std::int64_t dim, const Variable& index,
                            const Variable& source);
EBB_API Variable& index_copy_(const Variable& x, std::int64_t dim, const Variable& index,
                              const Variable& source);
/// Returns x with the indexed slices set to a scalar or a 0-d tensor. (torch.index_fill)
EBB_API Variable index_fill(const Variable& x, std::int64_t dim, const Variable& index, const Scalar& value);
EBB_API Variable index_fill(const Variable& x, std::int64_t dim, const Variable& index,
                            const Variable& value);
EBB_API Variable& index_fill_(const Variable& x, std::int64_t dim, const Variable& index,
                              const Scalar& value);
EBB_API Variable& index_fill_(const Variable& x, std::int64_t dim, const Variable& index,
                              const Variable& value);

/// Returns x with `value` (a scalar or a 0-d tensor) where the Bool mask is true. x and mask broadcast.
/// (torch.masked_fill)
EBB_API Variable masked_fill(const Variable& x, const Variable& mask, const Scalar& value);
EBB_API Variable masked_fill(const Variable& x, const Variable& mask, const Variable& value);
EBB_API Variable& masked_fill_(const Variable& x, const Variable& mask, const Scalar& value);
EBB_API Variable& masked_fill_(const Variable& x, const Variable& mask, const Variable& value);
/// Returns the elements where the mask is true, as a vector. x and mask broadcast. (torch.masked_select)
EBB_API Variable masked_select(const Variable& x, const Variable& mask);
/// Returns x with the elements of source, in order, where the mask is true. (torch.masked_scatter)
EBB_API Variable masked_scatter(const Variable& x, const Variable& mask, const Variable& source);
EBB_API Variable& masked_scatter_(const Variable& x, const Variable& mask, const Variable& source);

/// Returns elements of the flattened x in the shape of `index`. Negative indices count from the end.
/// (torch.take)
EBB_API Variable take(const Variable& x, const Variable& index);
/// Returns x with the elements of source written to the positions `index` of the flattened x, or added to
/// them if `accumulate` is true. (torch.put)
EBB_API Variable put(const Variable& x, const Variable& index, const Variable& source,
                     bool accumulate = false);
EBB_API Variable& put_(const Variable& x, const Variable& index, const Variable& source,
                       bool accumulate = false);
/// Calls gather. x and indices broadcast against each other, except along dim. Without dim, both are
/// flattened. (torch.take_along_dim)
EBB_API Variable take_along_dim(const Variable& x, const Variable& indices,
                                optional<std::int64_t> dim = nullopt);

/// Returns the indices of the nonzero elements, one in each row. (torch.nonzero; argwhere)
EBB_API Variable nonzero(const Variable& x);
inline Variable argwhere(const Variable& x) { return nonzero(x); }
/// Returns the first `size` rows of nonzero(). Missing rows are filled with fill_value.
/// (torch.nonzero_static)
EBB_API Variable nonzero_static(const Variable& x, std::int64_t size, std::int64_t fill_value = -1);
/// Returns nonzero() as one vector for each dimension. (torch.nonzero(as_tuple=True), torch.where(condition))
EBB_API std::vector<Variable> nonzero_numpy(const Variable& x);
/// Converts flat row-major indices to coordinates in an array of `shape`. Returns, for each dimension, a Long
/// tensor in the shape of `indices`. Throws for indices of a non-integer dtype, and for sizes that are
/// negative or, if there are indices, 0. Index values are not checked. (torch.unravel_index)
EBB_API std::vector<Variable> unravel_index(const Variable& indices, IntArrayRef shape);
inline std::vector<Variable> where(const Variable& condition) { return nonzero_numpy(condition); }

/// x[indices[0], indices[1], ...]. An undefined index (or nullopt) selects a whole dimension. Bool and Byte
/// tensors are masks. If the indexed dimensions are adjacent, the dimensions of the indices replace them.
/// Otherwise the dimensions of the indices come first in the result. (torch's advanced indexing)
EBB_API Variable index(const Variable& x, ArrayRef<optional<Variable>> indices);
/// Returns x with `values`, which broadcast, written to x[indices[0], indices[1], ...], or added to it if
/// `accumulate` is true.
EBB_API Variable index_put(const Variable& x, ArrayRef<optional<Variable>> indices, const Variable& values,
                           bool accumulate = false);
EBB_API Variable& index_put_(const Variable& x, ArrayRef<optional<Variable>> indices, const Variable& values,
                             bool accumulate = false);

}  // namespace ebb
