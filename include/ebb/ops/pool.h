// max_pool, avg_pool, adaptive and fractional pooling, grid_sampler and upsampling.
#pragma once

#include <ebb/autograd/variable.h>

#include <tuple>

namespace ebb {

// Pooling of an input [batch, channels, spatial...] or, without a batch, [channels, spatial...], of a
// floating dtype. kernel_size, stride, padding and dilation have one value for each axis or one for all axes.
// An empty stride means the kernel size. Output size: (in + 2 * padding - dilation * (kernel - 1) - 1) /
// stride + 1, rounded down. With ceil_mode it is rounded up, but windows that start in the padding after the
// input are dropped. padding may be at most half the kernel. All functions are differentiable to any order.

/// Returns the maximum of each window (torch.nn.functional.max_pool1d). It is the first of equal elements, or
/// NaN if the window contains NaN. A padding element is never the maximum.
EBB_API Variable max_pool1d(const Variable& self, IntArrayRef kernel_size, IntArrayRef stride = {},
                            IntArrayRef padding = 0, IntArrayRef dilation = 1, bool ceil_mode = false);
EBB_API Variable max_pool2d(const Variable& self, IntArrayRef kernel_size, IntArrayRef stride = {},
                            IntArrayRef padding = 0, IntArrayRef dilation = 1, bool ceil_mode = false);
EBB_API Variable max_pool3d(const Variable& self, IntArrayRef kernel_size, IntArrayRef stride = {},
                            IntArrayRef padding = 0, IntArrayRef dilation = 1, bool ceil_mode = false);

/// Return max_pool, and the index of each maximum: its row-major position within its channel, in int64.
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

/// Writes each element to the position given by max_pool's indices, in a tensor of zeros with the spatial
/// size output_size (torch.nn.functional.max_unpool2d).
EBB_API Variable max_unpool2d(const Variable& self, const Variable& indices, IntArrayRef output_size);
/// max_unpool for three spatial dimensions. stride and padding are those of the pooling; they do not change
/// the result.
EBB_API Variable max_unpool3d(const Variable& self, const Variable& indices, IntArrayRef output_size,
                              IntArrayRef stride, IntArrayRef padding);

/// Returns the mean of each window (torch.nn.functional.avg_pool1d). count_include_pad counts the padding as
/// zeros; divisor_override replaces the divisor. Long is allowed too, and its means round towards zero.
EBB_API Variable avg_pool1d(const Variable& self, IntArrayRef kernel_size, IntArrayRef stride = {},
                            IntArrayRef padding = 0, bool ceil_mode = false, bool count_include_pad = true);
EBB_API Variable avg_pool2d(const Variable& self, IntArrayRef kernel_size, IntArrayRef stride = {},
                            IntArrayRef padding = 0, bool ceil_mode = false, bool count_include_pad = true,
                            optional<std::int64_t> divisor_override = nullopt);
EBB_API Variable avg_pool3d(const Variable& self, IntArrayRef kernel_size, IntArrayRef stride = {},
                            IntArrayRef padding = 0, bool ceil_mode = false, bool count_include_pad = true,
                            optional<std::int64_t> divisor_override = nullopt);

/// Returns the means of windows that give the requested output size. Output o covers the elements from
/// floor(o * in / out) to ceil((o + 1) * in / out) (torch.nn.functional.adaptive_avg_pool2d).
EBB_API Variable adaptive_avg_pool1d(const Variable& self, IntArrayRef output_size);
EBB_API Variable adaptive_avg_pool2d(const Variable& self, IntArrayRef output_size);
EBB_API Variable adaptive_avg_pool3d(const Variable& self, IntArrayRef output_size);

/// Return the maxima of the windows of adaptive_avg_pool, and their indices
/// (torch.nn.functional.adaptive_max_pool2d).
EBB_API std::tuple<Variable, Variable> adaptive_max_pool1d(const Variable& self, IntArrayRef output_size);
EBB_API std::tuple<Variable, Variable> adaptive_max_pool2d(const Variable& self, IntArrayRef output_size);
EBB_API std::tuple<Variable, Variable> adaptive_max_pool3d(const Variable& self, IntArrayRef output_size);

/// Returns the maxima of output_size windows of kernel_size. random_samples, numbers in [0, 1) of shape (N,
/// C, 2) in self's dtype, determine the positions of the windows. self is (N, C, H, W) or (C, H, W),
/// floating. Also returns the index of each maximum in its plane, in int64. kernel + output - 1 may not
/// exceed the input. The op is differentiable to any order with respect to self.
/// (torch.fractional_max_pool2d; Graham 2014.)
EBB_API std::tuple<Variable, Variable> fractional_max_pool2d(const Variable& self, IntArrayRef kernel_size,
                                                             IntArrayRef output_size,
                                                             const Variable& random_samples);
/// fractional_max_pool over three axes: self (N, C, T, H, W) or (C, T, H, W), random_samples (N, C, 3).
EBB_API std::tuple<Variable, Variable> fractional_max_pool3d(const Variable& self, IntArrayRef kernel_size,
                                                             IntArrayRef output_size,
                                                             const Variable& random_samples);

/// Samples input (N, C, H, W) or (N, C, D, H, W) at the points of grid (N, H', W', 2) or (N, D', H', W', 3).
/// The last dimension contains x, y (and z) along W, H (and D), from -1 to 1. interpolation_mode: 0 bilinear
/// (trilinear), 1 nearest, 2 bicubic (4-D input; Keys' a = -0.75). padding_mode, for points outside: 0 zeros,
/// 1 border, 2 reflection. With align_corners, -1 and 1 are the centres of the outermost elements, and
/// otherwise the outer edges of these elements. Input and grid have the same floating dtype; the result is
/// (N, C, H', W') or (N, C, D', H', W'). The op is differentiable to any order with respect to input and
/// grid. If the gradient is itself recorded (create_graph), it is composed of other ops. (torch.grid_sampler;
/// Jaderberg et al. 2015.)
EBB_API Variable grid_sampler(const Variable& input, const Variable& grid, std::int64_t interpolation_mode,
                              std::int64_t padding_mode, bool align_corners);
EBB_API Variable grid_sampler_2d(const Variable& input, const Variable& grid, std::int64_t interpolation_mode,
                                 std::int64_t padding_mode, bool align_corners);
EBB_API Variable grid_sampler_3d(const Variable& input, const Variable& grid, std::int64_t interpolation_mode,
                                 std::int64_t padding_mode, bool align_corners);

/// Returns the grid of an affine map. theta (N, 2, 3) and size (N, C, H, W) give (N, H, W, 2). theta (N, 3,
/// 4) and size (N, C, D, H, W) give (N, D, H, W, 3). Each point is theta times (x, y, 1) or (x, y, z, 1).
EBB_API Variable affine_grid_generator(const Variable& theta, IntArrayRef size, bool align_corners);

// Resizing of (N, C, spatial...) to output_size. Without align_corners, element i covers the interval [i, i +
// 1]. With align_corners, the centres of the corner elements of the input and the output coincide. scales are
// ratios of output to input size; by default they are computed from the sizes. The second form of each
// function takes either output_size or scale_factors, with one value for each axis. Dtypes are floating, and
// the functions are differentiable to any order. The nearest modes take integers too. The other modes also
// take Byte, and round their results.

/// Selects the input element at the output position, scaled to the input and rounded down
/// (torch.nn.functional.interpolate).
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
/// Selects the input element that contains the centre of the output element.
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
/// Interpolates linearly along every axis.
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
/// Keys' cubic convolution, a = -0.75. The outermost elements are repeated beyond the edges.
EBB_API Variable upsample_bicubic2d(const Variable& self, IntArrayRef output_size, bool align_corners,
                                    optional<double> scales_h = nullopt, optional<double> scales_w = nullopt);
EBB_API Variable upsample_bicubic2d(const Variable& input, OptionalIntArrayRef output_size,
                                    bool align_corners, optional<ArrayRef<double>> scale_factors);
/// Antialiased resizing: the filters are as wide as the output elements, so that a smaller image averages all
/// input elements. Bicubic uses a = -0.5, as in Pillow.
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
