// Views: other shapes over the same memory. Nothing is copied (except by reshape and its kin where no strides
// fit); writes through a view are seen by its base, and gradients pass through both.
#pragma once

#include <ebb/autograd/variable.h>

#include <vector>

namespace ebb {

/// The storage of x under any sizes, strides and offset (in elements). Elements may overlap; the gradient
/// adds up over them. Throws when the geometry reaches outside the storage. (torch.as_strided)
EBB_API Variable as_strided(const Variable& x, IntArrayRef size, IntArrayRef stride,
                            optional<std::int64_t> storage_offset = nullopt);
EBB_API Variable& as_strided_(const Variable& x, IntArrayRef size, IntArrayRef stride,
                              optional<std::int64_t> storage_offset = nullopt);

/// x in another shape without a copy; one size may be -1. Throws when the strides of x do not allow it.
/// (Tensor.view)
EBB_API Variable view(const Variable& x, IntArrayRef size);
EBB_API Variable view_as(const Variable& x, const Variable& other);
/// The bytes of x read as another dtype; the last size scales with the element size. Not differentiable.
EBB_API Variable view(const Variable& x, DType dtype);
/// view where possible, otherwise a copy; one size may be -1. (torch.reshape)
EBB_API Variable reshape(const Variable& x, IntArrayRef shape);
/// Merges the dimensions start_dim to end_dim, both included. (torch.flatten)
EBB_API Variable flatten(const Variable& x, std::int64_t start_dim = 0, std::int64_t end_dim = -1);
/// Splits dimension `dim` into `sizes`; one may be -1. (torch.unflatten)
EBB_API Variable unflatten(const Variable& x, std::int64_t dim, IntArrayRef sizes);
/// One dimension, copied only when x is not contiguous. (torch.ravel)
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
/// The transpose of a matrix; vectors and 0-d tensors stay as they are. Throws beyond two dimensions.
/// (torch.t)
EBB_API Variable t(const Variable& x);
EBB_API Variable& t_(const Variable& x);
/// Dimensions in reverse order (Tensor.T).
EBB_API Variable numpy_T(const Variable& x);
/// Dimensions in the order `dims`, each exactly once. (torch.permute)
EBB_API Variable permute(const Variable& x, IntArrayRef dims);
/// Moves dimensions to new places, the others keeping their order. (torch.movedim)
EBB_API Variable movedim(const Variable& x, IntArrayRef source, IntArrayRef destination);
EBB_API Variable movedim(const Variable& x, std::int64_t source, std::int64_t destination);
inline Variable moveaxis(const Variable& x, IntArrayRef source, IntArrayRef destination) {
  return movedim(x, source, destination);
}
inline Variable moveaxis(const Variable& x, std::int64_t source, std::int64_t destination) {
  return movedim(x, source, destination);
}

/// Without the dimensions of size 1. (torch.squeeze)
EBB_API Variable squeeze(const Variable& x);
/// Without dimension `dim`, if its size is 1.
EBB_API Variable squeeze(const Variable& x, std::int64_t dim);
/// Without those of `dims` whose size is 1. Throws for one named twice.
EBB_API Variable squeeze(const Variable& x, IntArrayRef dims);
EBB_API Variable& squeeze_(const Variable& x);
EBB_API Variable& squeeze_(const Variable& x, std::int64_t dim);
EBB_API Variable& squeeze_(const Variable& x, IntArrayRef dims);
/// A dimension of size 1 before `dim`. (torch.unsqueeze)
EBB_API Variable unsqueeze(const Variable& x, std::int64_t dim);
EBB_API Variable& unsqueeze_(const Variable& x, std::int64_t dim);

/// Repeats dimensions of size 1 (and new leading ones) without copying; -1 keeps a size. (Tensor.expand)
EBB_API Variable expand(const Variable& x, IntArrayRef size, bool implicit = false);
/// expand to a shape that x broadcasts to. (torch.broadcast_to)
EBB_API Variable broadcast_to(const Variable& x, IntArrayRef size);
/// All tensors expanded to their common shape. (torch.broadcast_tensors)
EBB_API std::vector<Variable> broadcast_tensors(TensorList tensors);

/// The slice at `index` of dimension `dim`, which disappears. Throws IndexError when out of range.
/// (torch.select)
EBB_API Variable select(const Variable& x, std::int64_t dim, std::int64_t index);
/// Elements start, start + step, ... below end of dimension `dim`; negative bounds count from the end, and
/// bounds outside are clamped. The step is positive. (x[start:end:step])
EBB_API Variable slice(const Variable& x, std::int64_t dim = 0, optional<std::int64_t> start = nullopt,
                       optional<std::int64_t> end = nullopt, std::int64_t step = 1);
/// `length` elements of dimension `dim` from `start`; throws when they reach outside. (torch.narrow)
EBB_API Variable narrow(const Variable& x, std::int64_t dim, std::int64_t start, std::int64_t length);
EBB_API Variable narrow(const Variable& x, std::int64_t dim, const Variable& start, std::int64_t length);
/// The same, copied. (torch.narrow_copy)
EBB_API Variable narrow_copy(const Variable& x, std::int64_t dim, std::int64_t start, std::int64_t length);

/// The diagonal of the matrices in dim1 and dim2, as the last dimension; `offset` above (or below) the main
/// one. (torch.diagonal)
EBB_API Variable diagonal(const Variable& x, std::int64_t offset = 0, std::int64_t dim1 = 0,
                          std::int64_t dim2 = 1);
/// Windows of `size` along `dimension`, `step` apart; the window becomes the last dimension. (Tensor.unfold)
EBB_API Variable unfold(const Variable& x, std::int64_t dimension, std::int64_t size, std::int64_t step);

/// x summed over the dimensions that broadcasting would have expanded: the shape must broadcast to that of x.
/// (Tensor.sum_to_size)
EBB_API Variable sum_to_size(const Variable& x, IntArrayRef size);
/// Changes the shape of x itself, in row-major order or the order of `memory_format`; contents beyond the old
/// number of elements are undefined. Throws for tensors that require grad. (Tensor.resize_)
EBB_API Variable& resize_(const Variable& x, IntArrayRef size,
                          optional<MemoryFormat> memory_format = nullopt);
/// A copy of x in the shape of `other`. (torch.resize_as)
EBB_API Variable resize_as(const Variable& x, const Variable& other,
                           optional<MemoryFormat> memory_format = nullopt);
/// x itself as a view. (torch.alias)
EBB_API Variable alias(const Variable& x);

/// Views with at least 1, 2 or 3 dimensions. (torch.atleast_1d, atleast_2d, atleast_3d)
EBB_API Variable atleast_1d(const Variable& x);
EBB_API Variable atleast_2d(const Variable& x);
EBB_API Variable atleast_3d(const Variable& x);
EBB_API std::vector<Variable> atleast_1d(TensorList tensors);
EBB_API std::vector<Variable> atleast_2d(TensorList tensors);
EBB_API std::vector<Variable> atleast_3d(TensorList tensors);

/// Whether the shapes agree.
inline bool is_same_size(const Variable& a, const Variable& b) { return a.sizes() == b.sizes(); }

// Gradients of views, which are ops themselves so that they can be differentiated again.

/// Zeros in shape `input_sizes` with `grad` at select(dim, index).
EBB_API Variable select_backward(const Variable& grad, IntArrayRef input_sizes, std::int64_t dim,
                                 std::int64_t index);
/// Zeros in shape `input_sizes` with `grad` at slice(dim, start, end, step).
EBB_API Variable slice_backward(const Variable& grad, IntArrayRef input_sizes, std::int64_t dim,
                                std::int64_t start, std::int64_t end, std::int64_t step);
/// Zeros in shape `input_sizes` with `grad` on the diagonal.
EBB_API Variable diagonal_backward(const Variable& grad, IntArrayRef input_sizes, std::int64_t offset,
                                   std::int64_t dim1, std::int64_t dim2);
/// The windows `grad` added up where they came from.
EBB_API Variable unfold_backward(const Variable& grad, IntArrayRef input_sizes, std::int64_t dim,
                                 std::int64_t size, std::int64_t step);

}  // namespace ebb
