// Pooling: the greatest or the mean element of each window.
//
// Input [batch, channels, spatial...] or, unbatched, [channels, spatial...], of a floating dtype.
// kernel_size, stride, padding and dilation take one value an axis or one for all; an empty stride stands for
// the kernel size. Output size: (in + 2 padding - dilation (kernel - 1) - 1) / stride + 1, rounded down, or
// up with ceil_mode (windows that would start in the padding behind the input are left out). padding may be
// at most half the kernel. Differentiable to any order.
#pragma once

#include <ebb/autograd/variable.h>

#include <tuple>

namespace ebb {

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

}  // namespace ebb
