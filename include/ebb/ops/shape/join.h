// Joining tensors and taking them apart.
#pragma once

#include <ebb/autograd/variable.h>

#include <vector>

namespace ebb {

/// The tensors one after the other along `dim`; all other sizes agree, dtypes are promoted to a common one.
/// Tensors of shape {0} count as nothing. (torch.cat; concat)
EBB_API Variable cat(TensorList tensors, std::int64_t dim = 0);
inline Variable concat(TensorList tensors, std::int64_t dim = 0) { return cat(tensors, dim); }
inline Variable concatenate(TensorList tensors, std::int64_t dim = 0) { return cat(tensors, dim); }
/// Tensors of one shape along a new dimension `dim`. (torch.stack)
EBB_API Variable stack(TensorList tensors, std::int64_t dim = 0);
/// cat along the second dimension (the first for vectors). (torch.hstack)
EBB_API Variable hstack(TensorList tensors);
/// cat of at least 2-d tensors along the first dimension. (torch.vstack, row_stack)
EBB_API Variable vstack(TensorList tensors);
inline Variable row_stack(TensorList tensors) { return vstack(tensors); }
/// cat of at least 3-d tensors along the third dimension. (torch.dstack)
EBB_API Variable dstack(TensorList tensors);
/// hstack with vectors as columns. (torch.column_stack)
EBB_API Variable column_stack(TensorList tensors);
/// The matrices (or vectors, or numbers) along the diagonal of a matrix of zeros. (torch.block_diag)
EBB_API Variable block_diag(TensorList tensors);

/// The elements of all tensors, of one dtype, in a row. (torch._utils._flatten_dense_tensors)
EBB_API Variable flatten_dense_tensors(TensorList tensors);
/// A vector's elements as tensors of the shapes of `tensors`; views of it.
/// (torch._utils._unflatten_dense_tensors)
EBB_API std::vector<Variable> unflatten_dense_tensors(const Variable& flat, TensorList tensors);

// All pieces below are views of x, except those of the unsafe_ functions, which autograd does not track as
// such: write into them only if x is not used again. In-place ops on the pieces of split, chunk and unbind
// throw where gradients are recorded.

/// Pieces of split_size along `dim`, the last one possibly smaller. (torch.split)
EBB_API std::vector<Variable> split(const Variable& x, std::int64_t split_size, std::int64_t dim = 0);
/// Pieces of the given sizes, which add up to the size of `dim`.
EBB_API std::vector<Variable> split(const Variable& x, IntArrayRef split_sizes, std::int64_t dim = 0);
EBB_API std::vector<Variable> split_with_sizes(const Variable& x, IntArrayRef split_sizes,
                                               std::int64_t dim = 0);
EBB_API std::vector<Variable> unsafe_split(const Variable& x, std::int64_t split_size, std::int64_t dim = 0);
EBB_API std::vector<Variable> unsafe_split_with_sizes(const Variable& x, IntArrayRef split_sizes,
                                                      std::int64_t dim = 0);
/// At most `chunks` pieces of equal size, the last one possibly smaller. (torch.chunk)
EBB_API std::vector<Variable> chunk(const Variable& x, std::int64_t chunks, std::int64_t dim = 0);
EBB_API std::vector<Variable> unsafe_chunk(const Variable& x, std::int64_t chunks, std::int64_t dim = 0);
/// Every slice along `dim`, without that dimension. (torch.unbind)
EBB_API std::vector<Variable> unbind(const Variable& x, std::int64_t dim = 0);
/// Exactly `sections` pieces whose sizes differ by at most 1, or pieces that start at `indices`.
/// (torch.tensor_split)
EBB_API std::vector<Variable> tensor_split(const Variable& x, std::int64_t sections, std::int64_t dim = 0);
EBB_API std::vector<Variable> tensor_split(const Variable& x, IntArrayRef indices, std::int64_t dim = 0);
EBB_API std::vector<Variable> tensor_split(const Variable& x, const Variable& indices_or_sections,
                                           std::int64_t dim = 0);
/// tensor_split along the second (the first for vectors), first and third dimension. (torch.hsplit, vsplit,
/// dsplit)
EBB_API std::vector<Variable> hsplit(const Variable& x, std::int64_t sections);
EBB_API std::vector<Variable> hsplit(const Variable& x, IntArrayRef indices);
EBB_API std::vector<Variable> vsplit(const Variable& x, std::int64_t sections);
EBB_API std::vector<Variable> vsplit(const Variable& x, IntArrayRef indices);
EBB_API std::vector<Variable> dsplit(const Variable& x, std::int64_t sections);
EBB_API std::vector<Variable> dsplit(const Variable& x, IntArrayRef indices);

}  // namespace ebb
