// cat, stack, split, chunk, unbind and others: join and split tensors.
#pragma once

#include <ebb/autograd/variable.h>

#include <vector>

namespace ebb {

/// Concatenates tensors along `dim`. All other sizes must be equal; dtypes are promoted to a common dtype.
/// Tensors of shape {0} are ignored. (torch.cat; concat)
EBB_API Variable cat(TensorList tensors, std::int64_t dim = 0);
inline Variable concat(TensorList tensors, std::int64_t dim = 0) { return cat(tensors, dim); }
inline Variable concatenate(TensorList tensors, std::int64_t dim = 0) { return cat(tensors, dim); }
/// Stacks tensors of the same shape along a new dimension `dim`. (torch.stack)
EBB_API Variable stack(TensorList tensors, std::int64_t dim = 0);
/// Returns cat along the second dimension, or for vectors along the first. (torch.hstack)
EBB_API Variable hstack(TensorList tensors);
/// Returns cat of atleast_2d(tensors) along the first dimension. (torch.vstack, row_stack)
EBB_API Variable vstack(TensorList tensors);
inline Variable row_stack(TensorList tensors) { return vstack(tensors); }
/// Returns cat of atleast_3d(tensors) along the third dimension. (torch.dstack)
EBB_API Variable dstack(TensorList tensors);
/// Returns hstack, where each vector is first converted to a column. (torch.column_stack)
EBB_API Variable column_stack(TensorList tensors);
/// Writes matrices (vectors or 0-d tensors are allowed too) to the diagonal of a matrix of zeros.
/// (torch.block_diag)
EBB_API Variable block_diag(TensorList tensors);

/// Concatenates the elements of all tensors, which have the same dtype, to a vector.
/// (torch._utils._flatten_dense_tensors)
EBB_API Variable flatten_dense_tensors(TensorList tensors);
/// Splits a vector into views with the shapes of `tensors`. (torch._utils._unflatten_dense_tensors)
EBB_API std::vector<Variable> unflatten_dense_tensors(const Variable& flat, TensorList tensors);

// All parts below are views of x, except those of the unsafe_ functions. Autograd does not track the unsafe_
// parts as views, so write into them only if x is not used again. In-place ops on the parts of split, chunk
// and unbind throw if gradients are recorded.

/// Splits into parts of split_size along `dim`. The last part may be smaller. (torch.split)
EBB_API std::vector<Variable> split(const Variable& x, std::int64_t split_size, std::int64_t dim = 0);
/// Splits into parts of the given sizes, which sum to the size of `dim`.
EBB_API std::vector<Variable> split(const Variable& x, IntArrayRef split_sizes, std::int64_t dim = 0);
EBB_API std::vector<Variable> split_with_sizes(const Variable& x, IntArrayRef split_sizes,
                                               std::int64_t dim = 0);
EBB_API std::vector<Variable> unsafe_split(const Variable& x, std::int64_t split_size, std::int64_t dim = 0);
EBB_API std::vector<Variable> unsafe_split_with_sizes(const Variable& x, IntArrayRef split_sizes,
                                                      std::int64_t dim = 0);
/// Splits into at most `chunks` parts of equal size. The last part may be smaller. (torch.chunk)
EBB_API std::vector<Variable> chunk(const Variable& x, std::int64_t chunks, std::int64_t dim = 0);
EBB_API std::vector<Variable> unsafe_chunk(const Variable& x, std::int64_t chunks, std::int64_t dim = 0);
/// Returns each slice along `dim`, without that dimension. (torch.unbind)
EBB_API std::vector<Variable> unbind(const Variable& x, std::int64_t dim = 0);
/// Splits into exactly `sections` parts, whose sizes differ by at most 1, or into the parts between
/// consecutive `indices`. (torch.tensor_split)
EBB_API std::vector<Variable> tensor_split(const Variable& x, std::int64_t sections, std::int64_t dim = 0);
EBB_API std::vector<Variable> tensor_split(const Variable& x, IntArrayRef indices, std::int64_t dim = 0);
EBB_API std::vector<Variable> tensor_split(const Variable& x, const Variable& indices_or_sections,
                                           std::int64_t dim = 0);
/// tensor_split along the second dimension (for vectors the first), the first dimension, and the third
/// dimension. (torch.hsplit, vsplit, dsplit)
EBB_API std::vector<Variable> hsplit(const Variable& x, std::int64_t sections);
EBB_API std::vector<Variable> hsplit(const Variable& x, IntArrayRef indices);
EBB_API std::vector<Variable> vsplit(const Variable& x, std::int64_t sections);
EBB_API std::vector<Variable> vsplit(const Variable& x, IntArrayRef indices);
EBB_API std::vector<Variable> dsplit(const Variable& x, std::int64_t sections);
EBB_API std::vector<Variable> dsplit(const Variable& x, IntArrayRef indices);

}  // namespace ebb
