// Resampling: images read at the points of a grid, and resized along their axes.
#pragma once

#include <ebb/autograd/variable.h>

namespace ebb {

/// Reads input (N, C, H, W) or (N, C, D, H, W) at the points of grid (N, H', W', 2) or (N, D', H', W', 3):
/// the last dimension holds x, y (and z) along W, H (and D), from -1 to 1. interpolation_mode: 0 bilinear
/// (trilinear), 1 nearest, 2 bicubic (4-D input; Keys' a = -0.75). padding_mode, for what lies outside: 0
/// zeros, 1 the border, 2 reflections. -1 and 1 are the centres of the outermost elements with align_corners,
/// else their outer edges. Input and grid have one floating dtype; the result is (N, C, H', W') or (N, C, D',
/// H', W'). Differentiable to any order by both; a gradient that is itself recorded is made of ops.
/// (torch.grid_sampler; Jaderberg et al. 2015.)
EBB_API Variable grid_sampler(const Variable& input, const Variable& grid, std::int64_t interpolation_mode,
                              std::int64_t padding_mode, bool align_corners);
EBB_API Variable grid_sampler_2d(const Variable& input, const Variable& grid, std::int64_t interpolation_mode,
                                 std::int64_t padding_mode, bool align_corners);
EBB_API Variable grid_sampler_3d(const Variable& input, const Variable& grid, std::int64_t interpolation_mode,
                                 std::int64_t padding_mode, bool align_corners);

/// The grid of an affine map: theta (N, 2, 3) and size (N, C, H, W) give (N, H, W, 2), theta (N, 3, 4) and
/// size (N, C, D, H, W) give (N, D, H, W, 3); each point is theta times (x, y, 1) or (x, y, z, 1).
EBB_API Variable affine_grid_generator(const Variable& theta, IntArrayRef size, bool align_corners);

// Resizing (N, C, spatial...) to output_size. Without align_corners element i reaches from i to i + 1; with
// it the centres of the corners meet. scales are output elements per input element where they shall not
// follow from the sizes. The second form of each takes output_size or scale_factors, one of the two, a value
// an axis. Floating dtypes, differentiable to any order; nearest takes integers too, and the others Byte,
// rounded.

/// The element whose place, rounded down, the output's falls on (torch.nn.functional.interpolate).
EBB_API Variable upsample_nearest1d(const Variable& self, IntArrayRef output_size,
                                    optional<double> scales = nullopt);
EBB_API Variable upsample_nearest1d(const Variable& input, OptionalIntArrayRef output_size,
                                    optional<ArrayRef<double>> scale_factors);
EBB_API Variable upsample_nearest2d(const Variable& self, IntArrayRef output_size,
                                    optional<double> scales_h = nullopt, optional<double> scales_w = nullopt);
EBB_API Variable upsample_nearest2d(const Variable& input, OptionalIntArrayRef output_size,
                                    optional<ArrayRef<double>> scale_factors);
EBB_API Variable upsample_nearest3d(const Variable& self, IntArrayRef output_size,
                                    optional<double> scales_d = nullopt, optional<double> scales_h = nullopt,
                                    optional<double> scales_w = nullopt);
EBB_API Variable upsample_nearest3d(const Variable& input, OptionalIntArrayRef output_size,
                                    optional<ArrayRef<double>> scale_factors);
/// The element in which the output's centre lies.
EBB_API Variable _upsample_nearest_exact1d(const Variable& self, IntArrayRef output_size,
                                           optional<double> scales = nullopt);
EBB_API Variable _upsample_nearest_exact1d(const Variable& input, OptionalIntArrayRef output_size,
                                           optional<ArrayRef<double>> scale_factors);
EBB_API Variable _upsample_nearest_exact2d(const Variable& self, IntArrayRef output_size,
                                           optional<double> scales_h = nullopt,
                                           optional<double> scales_w = nullopt);
EBB_API Variable _upsample_nearest_exact2d(const Variable& input, OptionalIntArrayRef output_size,
                                           optional<ArrayRef<double>> scale_factors);
EBB_API Variable _upsample_nearest_exact3d(const Variable& self, IntArrayRef output_size,
                                           optional<double> scales_d = nullopt,
                                           optional<double> scales_h = nullopt,
                                           optional<double> scales_w = nullopt);
EBB_API Variable _upsample_nearest_exact3d(const Variable& input, OptionalIntArrayRef output_size,
                                           optional<ArrayRef<double>> scale_factors);
/// Linear interpolation along every axis.
EBB_API Variable upsample_linear1d(const Variable& self, IntArrayRef output_size, bool align_corners,
                                   optional<double> scales = nullopt);
EBB_API Variable upsample_linear1d(const Variable& input, OptionalIntArrayRef output_size, bool align_corners,
                                   optional<ArrayRef<double>> scale_factors);
EBB_API Variable upsample_bilinear2d(const Variable& self, IntArrayRef output_size, bool align_corners,
                                     optional<double> scales_h = nullopt,
                                     optional<double> scales_w = nullopt);
EBB_API Variable upsample_bilinear2d(const Variable& input, OptionalIntArrayRef output_size,
                                     bool align_corners, optional<ArrayRef<double>> scale_factors);
EBB_API Variable upsample_trilinear3d(const Variable& self, IntArrayRef output_size, bool align_corners,
                                      optional<double> scales_d = nullopt,
                                      optional<double> scales_h = nullopt,
                                      optional<double> scales_w = nullopt);
EBB_API Variable upsample_trilinear3d(const Variable& input, OptionalIntArrayRef output_size,
                                      bool align_corners, optional<ArrayRef<double>> scale_factors);
/// Keys' cubic convolution, a = -0.75, beyond the edges with the outermost elements.
EBB_API Variable upsample_bicubic2d(const Variable& self, IntArrayRef output_size, bool align_corners,
                                    optional<double> scales_h = nullopt, optional<double> scales_w = nullopt);
EBB_API Variable upsample_bicubic2d(const Variable& input, OptionalIntArrayRef output_size,
                                    bool align_corners, optional<ArrayRef<double>> scale_factors);
/// With filters as wide as the output's elements, which average what a smaller image would skip; bicubic with
/// a = -0.5, as Pillow does it.
EBB_API Variable _upsample_bilinear2d_aa(const Variable& self, IntArrayRef output_size, bool align_corners,
                                         optional<double> scales_h = nullopt,
                                         optional<double> scales_w = nullopt);
EBB_API Variable _upsample_bilinear2d_aa(const Variable& input, OptionalIntArrayRef output_size,
                                         bool align_corners, optional<ArrayRef<double>> scale_factors);
EBB_API Variable _upsample_bicubic2d_aa(const Variable& self, IntArrayRef output_size, bool align_corners,
                                        optional<double> scales_h = nullopt,
                                        optional<double> scales_w = nullopt);
EBB_API Variable _upsample_bicubic2d_aa(const Variable& input, OptionalIntArrayRef output_size,
                                        bool align_corners, optional<ArrayRef<double>> scale_factors);

}  // namespace ebb
