// Reading and writing elements named by index tensors and masks.
#pragma once

#include <ebb/autograd/variable.h>

#include <string_view>
#include <vector>

namespace ebb {

// If an index names an element twice, gradients add up, in one order whatever the number of threads.

/// out[i][j] = x[index[i][j]][j] (dim 0), of the shape of `index`. Throws IndexError for an index
/// outside [0, size). `index`, here and in the scatters, is Long or Int; one without elements may have any
/// dtype. (torch.gather)
EBB_API Variable gather(const Variable& x, std::int64_t dim, const Variable& index, bool sparse_grad = false);
/// A copy of x with out[index[i][j]][j] = src[i][j] (dim 0), or a number. With duplicates the last one stays.
/// `reduce` "add" or "multiply" combines instead of replacing. (torch.scatter)
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
/// scatter that adds to what x holds. (torch.scatter_add)
EBB_API Variable scatter_add(const Variable& x, std::int64_t dim, const Variable& index, const Variable& src);
EBB_API Variable& scatter_add_(const Variable& x, std::int64_t dim, const Variable& index,
                               const Variable& src);
/// scatter by "sum", "prod", "mean", "amax" or "amin", of x's own values too unless include_self is false.
/// Ties of amax and amin share the gradient; that of prod is exact at zeros, to any order.
/// (torch.scatter_reduce)
EBB_API Variable scatter_reduce(const Variable& x, std::int64_t dim, const Variable& index,
                                const Variable& src, std::string_view reduce, bool include_self = true);
EBB_API Variable& scatter_reduce_(const Variable& x, std::int64_t dim, const Variable& index,
                                  const Variable& src, std::string_view reduce, bool include_self = true);

/// The slices of `dim` that a vector of Long or Int names. (torch.index_select)
EBB_API Variable index_select(const Variable& x, std::int64_t dim, const Variable& index);
/// x with alpha * source added to the named slices. (torch.index_add)
EBB_API Variable index_add(const Variable& x, std::int64_t dim, const Variable& index, const Variable& source,
                           const Scalar& alpha = 1);
EBB_API Variable& index_add_(const Variable& x, std::int64_t dim, const Variable& index,
                             const Variable& source, const Scalar& alpha = 1);
/// x with the slices of source combined into the named ones by "prod", "mean", "amax" or "amin", and with x's
/// own values too unless include_self is false. Derivatives are scatter_reduce's. (torch.index_reduce)
EBB_API Variable index_reduce(const Variable& x, std::int64_t dim, const Variable& index,
                              const Variable& source, std::string_view reduce, bool include_self = true);
EBB_API Variable& index_reduce_(const Variable& x, std::int64_t dim, const Variable& index,
                                const Variable& source, std::string_view reduce, bool include_self = true);
/// x with the named slices replaced by those of source. (torch.index_copy)
EBB_API Variable index_copy(const Variable& x, std::int64_t dim, const Variable& index,
                            const Variable& source);
EBB_API Variable& index_copy_(const Variable& x, std::int64_t dim, const Variable& index,
                              const Variable& source);
/// x with the named slices set to a number or a 0-d tensor. (torch.index_fill)
EBB_API Variable index_fill(const Variable& x, std::int64_t dim, const Variable& index, const Scalar& value);
EBB_API Variable index_fill(const Variable& x, std::int64_t dim, const Variable& index,
                            const Variable& value);
EBB_API Variable& index_fill_(const Variable& x, std::int64_t dim, const Variable& index,
                              const Scalar& value);
EBB_API Variable& index_fill_(const Variable& x, std::int64_t dim, const Variable& index,
                              const Variable& value);

/// x with `value` (a number or a 0-d tensor) where the Bool mask is true; x and mask broadcast.
/// (torch.masked_fill)
EBB_API Variable masked_fill(const Variable& x, const Variable& mask, const Scalar& value);
EBB_API Variable masked_fill(const Variable& x, const Variable& mask, const Variable& value);
EBB_API Variable& masked_fill_(const Variable& x, const Variable& mask, const Scalar& value);
EBB_API Variable& masked_fill_(const Variable& x, const Variable& mask, const Variable& value);
/// The elements where the mask is true, as a vector; x and mask broadcast. (torch.masked_select)
EBB_API Variable masked_select(const Variable& x, const Variable& mask);
/// x with the elements of source, in order, where the mask is true. (torch.masked_scatter)
EBB_API Variable masked_scatter(const Variable& x, const Variable& mask, const Variable& source);
EBB_API Variable& masked_scatter_(const Variable& x, const Variable& mask, const Variable& source);

/// Elements of the flattened x, in the shape of `index`; negative ones count from the end. (torch.take)
EBB_API Variable take(const Variable& x, const Variable& index);
/// x with elements of source at places of the flattened x, replacing or adding. (torch.put)
EBB_API Variable put(const Variable& x, const Variable& index, const Variable& source,
                     bool accumulate = false);
EBB_API Variable& put_(const Variable& x, const Variable& index, const Variable& source,
                       bool accumulate = false);
/// gather with x and indices broadcast against each other; of the flattened tensors without dim.
/// (torch.take_along_dim)
EBB_API Variable take_along_dim(const Variable& x, const Variable& indices,
                                optional<std::int64_t> dim = nullopt);

/// The places of the elements that are not zero, as rows. (torch.nonzero; argwhere)
EBB_API Variable nonzero(const Variable& x);
inline Variable argwhere(const Variable& x) { return nonzero(x); }
/// The first `size` of them; rows of fill_value where there are fewer. (torch.nonzero_static)
EBB_API Variable nonzero_static(const Variable& x, std::int64_t size, std::int64_t fill_value = -1);
/// The same, one vector for each dimension. (torch.nonzero(as_tuple=True), torch.where(condition))
EBB_API std::vector<Variable> nonzero_numpy(const Variable& x);
/// The coordinates in an array of that shape of what a flat index counts in row-major order: a tensor of the
/// indices' shape and Long for each dimension. Throws for indices of no integer dtype, and for sizes that are
/// negative or, where there is an index, 0; indices are not checked. (torch.unravel_index)
EBB_API std::vector<Variable> unravel_index(const Variable& indices, IntArrayRef shape);
inline std::vector<Variable> where(const Variable& condition) { return nonzero_numpy(condition); }

/// x[indices[0], indices[1], ...]: an undefined index (or nullopt) takes a whole dimension; Bool and Byte
/// tensors are masks. Dimensions that are indexed by adjacent tensors are replaced where they stand, else the
/// result of the indices comes first. (torch's advanced indexing)
EBB_API Variable index(const Variable& x, ArrayRef<optional<Variable>> indices);
/// x with `values` (broadcast) at these places, replacing or adding.
EBB_API Variable index_put(const Variable& x, ArrayRef<optional<Variable>> indices, const Variable& values,
                           bool accumulate = false);
EBB_API Variable& index_put_(const Variable& x, ArrayRef<optional<Variable>> indices, const Variable& values,
                             bool accumulate = false);

}  // namespace ebb
