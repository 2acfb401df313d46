// Pooling and resampling: the greatest or the mean element of each window, and images read between their
// elements.
#pragma once

#include <ebb/autograd/variable.h>

#include <tuple>

namespace ebb {

// Pooling of an input [batch, channels, spatial...] or, unbatched, [channels, spatial...], of a floating
// dtype. kernel_size, stride, padding and dilation take one value an axis or one for all; an empty stride
// stands for the kernel size. Output size: (in + 2 padding - dilation (kernel - 1) - 1) / stride + 1, rounded
// down, or up with ceil_mode (windows that would start in the padding behind the input are left out). padding
// may be at most half the kernel. Differentiable to any order.

/// The greatest element of each window (torch.nn.functional.max_pool1d): the first of equal ones, a NaN if
/// there is one. Padding never wins.
EBB_API Variable max_pool1d(const Variable& self, IntArrayRef kernel_size, IntArrayRef stride = {},
                            IntArrayRef padding = 0, IntArrayRef dilation = 1, bool ceil_mode = false);
EBB_API Variable max_pool2d(const Variable& self, IntArrayRef kernel_size, IntArrayRef stride = {},
                            IntArrayRef padding = 0, IntArrayRef dilation = 1, bool ceil_mode = false);
EBB_API Variable max_pool3d(const Variable& self, IntArrayRef kernel_size, IntArrayRef stride = {},
                            IntArrayRef padding = 0, IntArrayRef dilation = 1, bool ceil_mode = false);

/// The same, and where each stands: its row-major position within its channel, in int64.
EBB_API std::tuple<Variable, Variable> max_pool1d_with_indices(const Variable& self, IntArrayRef kernel_size,
                                                               IntArrayRef stride = {},
                                                               IntArrayRef padding = 0,
                                                               IntArrayRef dilation = 1,
                                                               bool ceil_mode = false);
EBB_API std::tuple<Variable, Variable> max_pool2d_with_indices(const Variable& self, IntArrayRef kernel_size,
                                                               IntArrayRef stride = {},
                                                               IntArrayRef padding = 0,
                                                               IntArrayRef dilation = 1,
                                                               bool ceil_mode = false);
EBB_API std::tuple<Variable, Variable> max_pool3d_with_indices(const Variable& self, IntArrayRef kernel_size,
                                                               IntArrayRef stride = {},
                                                               IntArrayRef padding = 0,
                                                               IntArrayRef dilation = 1,
                                                               bool ceil_mode = false);

/// Puts each element where max_pool's indices say, in a tensor of zeros with the spatial size output_size
/// (torch.nn.functional.max_unpool2d).
EBB_API Variable max_unpool2d(const Variable& self, const Variable& indices, IntArrayRef output_size);
/// stride and padding are those of the pooling; they do not change the result.
EBB_API Variable max_unpool3d(const Variable& self, const Variable& indices, IntArrayRef output_size,
                              IntArrayRef stride, IntArrayRef padding);

/// The mean of each window (torch.nn.functional.avg_pool1d). count_include_pad counts the padding as zeros;
/// divisor_override divides by a number of its own. Long is taken too, and means of it round towards zero.
EBB_API Variable avg_pool1d(const Variable& self, IntArrayRef kernel_size, IntArrayRef stride = {},
                            IntArrayRef padding = 0, bool ceil_mode = false, bool count_include_pad = true);
EBB_API Variable avg_pool2d(const Variable& self, IntArrayRef kernel_size, IntArrayRef stride = {},
                            IntArrayRef padding = 0, bool ceil_mode = false, bool count_include_pad = true,
                            optional<std::int64_t> divisor_override = nullopt);
EBB_API Variable avg_pool3d(const Variable& self, IntArrayRef kernel_size, IntArrayRef stride = {},
                            IntArrayRef padding = 0, bool ceil_mode = false, bool count_include_pad = true,
                            optional<std::int64_t> divisor_override = nullopt);

/// Means of windows chosen so that the output has the size asked for: output o covers the elements from
/// floor(o in / out) to ceil((o + 1) in / out) (torch.nn.functional.adaptive_avg_pool2d).
EBB_API Variable adaptive_avg_pool1d(const Variable& self, IntArrayRef output_size);
EBB_API Variable adaptive_avg_pool2d(const Variable& self, IntArrayRef output_size);
EBB_API Variable adaptive_avg_pool3d(const Variable& self, IntArrayRef output_size);

/// The greatest elements of such windows, and their indices (torch.nn.functional.adaptive_max_pool2d).
EBB_API std::tuple<Variable, Variable> adaptive_max_pool1d(const Variable& self, IntArrayRef output_size);
EBB_API std::tuple<Variable, Variable> adaptive_max_pool2d(const Variable& self, IntArrayRef output_size);
EBB_API std::tuple<Variable, Variable> adaptive_max_pool3d(const Variable& self, IntArrayRef output_size);

/// The greatest elements of output_size windows of kernel_size, whose places random_samples draws: numbers in
/// [0, 1), (N, C, 2), in self's dtype. self is (N, C, H, W) or (C, H, W), floating; also gives where each
/// element stands in its plane, in int64. kernel + output - 1 may not exceed the input. Differentiable to any
/// order by self. (torch.fractional_max_pool2d; Graham 2014.)
EBB_API std::tuple<Variable, Variable> fractional_max_pool2d(const Variable& self, IntArrayRef kernel_size,
                                                             IntArrayRef output_size,
                                                             const Variable& random_samples);
/// The same over three axes: self (N, C, T, H, W) or (C, T, H, W), random_samples (N, C, 3).
EBB_API std::tuple<Variable, Variable> fractional_max_pool3d(const Variable& self, IntArrayRef kernel_size,
                                                             IntArrayRef output_size,
                                                             const Variable& random_samples);

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
