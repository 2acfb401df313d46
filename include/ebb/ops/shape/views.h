// view, reshape, transpose, squeeze, expand, select, slice and other views. They do not copy, except reshape
// and similar ops if the shape cannot be expressed by strides on the same storage. A write through a view
// changes its base. Views and writes through views are differentiable.
#pragma once

#include <ebb/autograd/variable.h>

#include <vector>

namespace ebb {

/// Returns a view of x's storage with any sizes, strides and offset (in elements). Elements may overlap;
/// their gradients are summed. Throws if the geometry exceeds the storage. (torch.as_strided)
EBB_API Variable as_strided(const Variable& x, IntArrayRef size, IntArrayRef stride,
                            optional<std::int64_t> storage_offset = nullopt);
EBB_API Variable& as_strided_(const Variable& x, IntArrayRef size, IntArrayRef stride,
                              optional<std::int64_t> storage_offset = nullopt);

/// Returns x in another shape without a copy. One size may be -1. Throws if the strides of x do not allow the
/// shape. (Tensor.view)
EBB_API Variable view(const Variable& x, IntArrayRef size);
EBB_API Variable view_as(const Variable& x, const Variable& other);
/// Reinterprets the bytes of x as another dtype. The last size scales with the element size. Not
/// differentiable.
EBB_API Variable view(const Variable& x, DType dtype);
/// Returns a view if possible, and otherwise a copy. One size may be -1. (torch.reshape)
EBB_API Variable reshape(const Variable& x, IntArrayRef shape);
/// Merges the dimensions start_dim to end_dim, both included. (torch.flatten)
EBB_API Variable flatten(const Variable& x, std::int64_t start_dim = 0, std::int64_t end_dim = -1);
/// Splits dimension `dim` into `sizes`. One size may be -1. (torch.unflatten)
EBB_API Variable unflatten(const Variable& x, std::int64_t dim, IntArrayRef sizes);
/// Flattens to one dimension; copies only if x is not contiguous. (torch.ravel)
EBB_API Variable ravel(const Variable& x);

/// Swaps two dimensions. (torch.transpose; swapaxes, swapdims)
EBB_API Variable transpose(const Variable& x, std::int64_t dim0, std::int64_t dim1);
EBB_API Variable& transpose_(const Variable& x, std::int64_t dim0, std::int64_t dim1);
inline Variable swapaxes(const Variable& x, std::int64_t axis0, std::int64_t axis1) {
  return transpose(x, axis0, axis1);
}
inline Variable swapdims(const Variable& x, std::int64_t dim0, std::int64_t dim1) {
  return transpose(x, dim0, dim1);
}
/// Returns the transpose of a matrix; vectors and 0-d tensors do not change. Throws for more than two
/// dimensions. (torch.t)
EBB_API Variable t(const Variable& x);
EBB_API Variable& t_(const Variable& x);
/// Reverses the order of dimensions (Tensor.T).
EBB_API Variable numpy_T(const Variable& x);
/// Reorders the dimensions: dimension i of the result is dims[i] of x. `dims` has each dimension exactly
/// once. (torch.permute)
EBB_API Variable permute(const Variable& x, IntArrayRef dims);
/// Moves dimensions to new positions; the others keep their order. (torch.movedim)
EBB_API Variable movedim(const Variable& x, IntArrayRef source, IntArrayRef destination);
EBB_API Variable movedim(const Variable& x, std::int64_t source, std::int64_t destination);
inline Variable moveaxis(const Variable& x, IntArrayRef source, IntArrayRef destination) {
  return movedim(x, source, destination);
}
inline Variable moveaxis(const Variable& x, std::int64_t source, std::int64_t destination) {
  return movedim(x, source, destination);
}

/// Removes all dimensions of size 1. (torch.squeeze)
EBB_API Variable squeeze(const Variable& x);
/// Removes dimension `dim` if its size is 1.
EBB_API Variable squeeze(const Variable& x, std::int64_t dim);
/// Removes the dimensions among `dims` whose size is 1. Throws for duplicates.
EBB_API Variable squeeze(const Variable& x, IntArrayRef dims);
EBB_API Variable& squeeze_(const Variable& x);
EBB_API Variable& squeeze_(const Variable& x, std::int64_t dim);
EBB_API Variable& squeeze_(const Variable& x, IntArrayRef dims);
/// Inserts a dimension of size 1 before `dim`. (torch.unsqueeze)
EBB_API Variable unsqueeze(const Variable& x, std::int64_t dim);
EBB_API Variable& unsqueeze_(const Variable& x, std::int64_t dim);

/// Repeats dimensions of size 1 (and new leading ones) without copying; -1 keeps a size. (Tensor.expand)
EBB_API Variable expand(const Variable& x, IntArrayRef size, bool implicit = false);
/// Expands to a shape that x broadcasts to. (torch.broadcast_to)
EBB_API Variable broadcast_to(const Variable& x, IntArrayRef size);
/// Expands all tensors to their common shape. (torch.broadcast_tensors)
EBB_API std::vector<Variable> broadcast_tensors(TensorList tensors);

/// Returns the slice at `index` of dimension `dim`, and removes that dimension. Throws IndexError for an
/// index out of range. (torch.select)
EBB_API Variable select(const Variable& x, std::int64_t dim, std::int64_t index);
/// Returns elements start, start + step, ... below end of dimension `dim`. Negative bounds count from the
/// end, and bounds out of range are clamped. The step is positive. (x[start:end:step])
EBB_API Variable slice(const Variable& x, std::int64_t dim = 0, optional<std::int64_t> start = nullopt,
                       optional<std::int64_t> end = nullopt, std::int64_t step = 1);
/// Returns `length` elements of dimension `dim` from `start`. Throws if they are out of range. (torch.narrow)
EBB_API Variable narrow(const Variable& x, std::int64_t dim, std::int64_t start, std::int64_t length);
EBB_API Variable narrow(const Variable& x, std::int64_t dim, const Variable& start, std::int64_t length);
/// Returns a copy of narrow(x, dim, start, length). (torch.narrow_copy)
EBB_API Variable narrow_copy(const Variable& x, std::int64_t dim, std::int64_t start, std::int64_t length);

/// Returns the diagonal of the matrices in dim1 and dim2 as the last dimension. `offset` > 0 is above the
/// main diagonal. (torch.diagonal)
EBB_API Variable diagonal(const Variable& x, std::int64_t offset = 0, std::int64_t dim1 = 0,
                          std::int64_t dim2 = 1);
/// Returns windows of `size` elements along `dimension` as a new last dimension. Consecutive windows begin
/// `step` elements apart. (Tensor.unfold)
EBB_API Variable unfold(const Variable& x, std::int64_t dimension, std::int64_t size, std::int64_t step);

/// Sums x over the dimensions that broadcasting from `size` expands. `size` must broadcast to the shape of x.
/// (Tensor.sum_to_size)
EBB_API Variable sum_to_size(const Variable& x, IntArrayRef size);
/// Changes the shape of x itself, in row-major order or the order of `memory_format`. If the number of
/// elements grows, the new elements are undefined. Throws for tensors that require grad. (Tensor.resize_)
EBB_API Variable& resize_(const Variable& x, IntArrayRef size,
                          optional<MemoryFormat> memory_format = nullopt);
/// Returns a copy of x in the shape of `other`. (torch.resize_as)
EBB_API Variable resize_as(const Variable& x, const Variable& other,
                           optional<MemoryFormat> memory_format = nullopt);
/// Returns x itself as a view. (torch.alias)
EBB_API Variable alias(const Variable& x);

/// Return views with at least 1, 2 or 3 dimensions. (torch.atleast_1d, atleast_2d, atleast_3d)
EBB_API Variable atleast_1d(const Variable& x);
EBB_API Variable atleast_2d(const Variable& x);
EBB_API Variable atleast_3d(const Variable& x);
EBB_API std::vector<Variable> atleast_1d(TensorList tensors);
EBB_API std::vector<Variable> atleast_2d(TensorList tensors);
EBB_API std::vector<Variable> atleast_3d(TensorList tensors);

/// Returns whether the shapes are equal.
inline bool is_same_size(const Variable& a, const Variable& b) { return a.sizes() == b.sizes(); }

// Gradients of views. They are differentiable ops, so they can be differentiated again.

/// Returns a tensor of shape `input_sizes` that equals `grad` at select(dim, index) and is 0 elsewhere.
EBB_API Variable select_backward(const Variable& grad, IntArrayRef input_sizes, std::int64_t dim,
                                 std::int64_t index);
/// Returns a tensor of shape `input_sizes` that equals `grad` at slice(dim, start, end, step) and is 0
/// elsewhere.
EBB_API Variable slice_backward(const Variable& grad, IntArrayRef input_sizes, std::int64_t dim,
                                std::int64_t start, std::int64_t end, std::int64_t step);
/// Returns a tensor of shape `input_sizes` that equals `grad` on the diagonal and is 0 elsewhere.
EBB_API Variable diagonal_backward(const Variable& grad, IntArrayRef input_sizes, std::int64_t offset,
                                   std::int64_t dim1, std::int64_t dim2);
/// Adds each window of `grad` to the elements from which unfold copied it.
EBB_API Variable unfold_backward(const Variable& grad, IntArrayRef input_sizes, std::int64_t dim,
                                 std::int64_t size, std::int64_t step);

}  // namespace ebb
