// repeat, flip, roll, tril, diag, meshgrid, pixel_shuffle and others: new tensors from rearranged elements.
#pragma once

#include <ebb/autograd/variable.h>

#include <string_view>
#include <vector>

namespace ebb {

/// Repeats x repeats[d] times along dimension d. Extra leading repeats add dimensions. (Tensor.repeat)
EBB_API Variable repeat(const Variable& x, IntArrayRef repeats);
/// Calls repeat; if `dims` has fewer elements than x has dimensions, the missing leading repeats are 1.
/// (torch.tile)
EBB_API Variable tile(const Variable& x, IntArrayRef dims);
/// Returns indices in which i occurs repeats[i] times. For example, {2, 0, 1} gives {0, 0, 2}.
/// (torch.repeat_interleave)
EBB_API Variable repeat_interleave(const Variable& repeats, optional<std::int64_t> output_size = nullopt);
/// Repeats each element along `dim`; the copies are adjacent. Without dim, repeats along the flattened
/// tensor.
EBB_API Variable repeat_interleave(const Variable& x, std::int64_t repeats,
                                   optional<std::int64_t> dim = nullopt,
                                   optional<std::int64_t> output_size = nullopt);
EBB_API Variable repeat_interleave(const Variable& x, const Variable& repeats,
                                   optional<std::int64_t> dim = nullopt,
                                   optional<std::int64_t> output_size = nullopt);

/// Reverses the order along each of `dims`. (torch.flip, fliplr, flipud)
EBB_API Variable flip(const Variable& x, IntArrayRef dims);
EBB_API Variable fliplr(const Variable& x);
EBB_API Variable flipud(const Variable& x);
/// Shifts elements along `dims`. Elements beyond the end re-enter at the start. Without dims, rolls the
/// flattened tensor. (torch.roll)
EBB_API Variable roll(const Variable& x, IntArrayRef shifts, IntArrayRef dims = {});
/// Rotates k times by 90 degrees in the plane of two dimensions, from the first towards the second dimension.
/// (torch.rot90)
EBB_API Variable rot90(const Variable& x, std::int64_t k = 1, IntArrayRef dims = {0, 1});

/// Sets the elements above (tril) or below (triu) a diagonal to zero, in the matrices of the last two
/// dimensions. (torch.tril, triu)
EBB_API Variable tril(const Variable& x, std::int64_t diagonal = 0);
EBB_API Variable triu(const Variable& x, std::int64_t diagonal = 0);
EBB_API Variable& tril_(const Variable& x, std::int64_t diagonal = 0);
EBB_API Variable& triu_(const Variable& x, std::int64_t diagonal = 0);

/// Writes a vector to the diagonal of a matrix of zeros, or copies the diagonal of a matrix. (torch.diag)
EBB_API Variable diag(const Variable& x, std::int64_t diagonal = 0);
/// Writes the last dimension to the diagonal of matrices in dim1 and dim2. (torch.diag_embed)
EBB_API Variable diag_embed(const Variable& x, std::int64_t offset = 0, std::int64_t dim1 = -2,
                            std::int64_t dim2 = -1);
/// diag of the flattened tensor. (torch.diagflat)
EBB_API Variable diagflat(const Variable& x, std::int64_t offset = 0);
/// Fills the main diagonal. With `wrap` it starts again below the square part of a tall matrix.
/// (Tensor.fill_diagonal_)
EBB_API Variable& fill_diagonal_(const Variable& x, const Scalar& fill_value, bool wrap = false);
EBB_API Variable fill_diagonal(const Variable& x, const Scalar& fill_value, bool wrap = false);

/// Expands vectors to a grid, with one dimension for each vector. With indexing "xy" the first two dimensions
/// of the grid are swapped. (torch.meshgrid)
EBB_API std::vector<Variable> meshgrid(TensorList tensors);
EBB_API std::vector<Variable> meshgrid(TensorList tensors, std::string_view indexing);
/// Returns all combinations of one element from each vector, as rows. (torch.cartesian_prod)
EBB_API Variable cartesian_prod(TensorList tensors);
/// Returns all combinations of r elements of a vector, as rows. (torch.combinations)
EBB_API Variable combinations(const Variable& x, std::int64_t r = 2, bool with_replacement = false);

/// Returns the powers N - 1, ..., 0 (or 0, ..., N - 1) of each element of a vector, as rows. (torch.vander)
EBB_API Variable vander(const Variable& x, optional<std::int64_t> N = nullopt, bool increasing = false);

/// Moves r^2 channels into r x r blocks of pixels, (..., C r^2, H, W) to (..., C, H r, W r), and back.
/// (torch.pixel_shuffle)
EBB_API Variable pixel_shuffle(const Variable& x, std::int64_t upscale_factor);
EBB_API Variable pixel_unshuffle(const Variable& x, std::int64_t downscale_factor);
/// Interleaves the channels of `groups` groups. (torch.channel_shuffle)
EBB_API Variable channel_shuffle(const Variable& x, std::int64_t groups);
/// channel_shuffle under ATen's name. (torch.native_channel_shuffle)
EBB_API Variable native_channel_shuffle(const Variable& self, std::int64_t groups);

// Return a copy of x with a part replaced by src. (torch.select_scatter, slice_scatter, diagonal_scatter,
// as_strided_scatter; the last one indexes the elements of x in row-major order.)
EBB_API Variable select_scatter(const Variable& x, const Variable& src, std::int64_t dim, std::int64_t index);
EBB_API Variable slice_scatter(const Variable& x, const Variable& src, std::int64_t dim = 0,
                               optional<std::int64_t> start = nullopt, optional<std::int64_t> end = nullopt,
                               std::int64_t step = 1);
EBB_API Variable diagonal_scatter(const Variable& x, const Variable& src, std::int64_t offset = 0,
                                  std::int64_t dim1 = 0, std::int64_t dim2 = 1);
EBB_API Variable as_strided_scatter(const Variable& x, const Variable& src, IntArrayRef size,
                                    IntArrayRef stride, optional<std::int64_t> storage_offset = nullopt);

}  // namespace ebb
