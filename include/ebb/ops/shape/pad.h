// Padding, im2col and col2im.
#pragma once

#include <ebb/autograd/variable.h>

#include <string_view>

namespace ebb {

/// Pads x with `value`. pad contains (before, after) of the last dimension, then of the second-last
/// dimension, and so on. Negative amounts crop. (torch.constant_pad_nd)
EBB_API Variable constant_pad_nd(const Variable& x, IntArrayRef pad, const Scalar& value = 0);
/// Pads in mode "constant", "reflect", "replicate" or "circular". The last three modes pad the last one, two
/// or three dimensions and do not accept a value. (torch.nn.functional.pad)
EBB_API Variable pad(const Variable& x, IntArrayRef pad, std::string_view mode = "constant",
                     optional<double> value = nullopt);
/// Pads by reflection at the border, without repeating the border element.
EBB_API Variable reflection_pad1d(const Variable& x, IntArrayRef padding);
EBB_API Variable reflection_pad2d(const Variable& x, IntArrayRef padding);
EBB_API Variable reflection_pad3d(const Variable& x, IntArrayRef padding);
/// Pads by repeating the border element.
EBB_API Variable replication_pad1d(const Variable& x, IntArrayRef padding);
EBB_API Variable replication_pad2d(const Variable& x, IntArrayRef padding);
EBB_API Variable replication_pad3d(const Variable& x, IntArrayRef padding);

/// Extracts windows of an image (N,) C x H x W as columns: (N,) C kh kw x blocks.
/// (torch.nn.functional.unfold)
EBB_API Variable im2col(const Variable& x, IntArrayRef kernel_size, IntArrayRef dilation, IntArrayRef padding,
                        IntArrayRef stride);
/// Adds each column to the window from which im2col extracts it: the adjoint of im2col.
/// (torch.nn.functional.fold)
EBB_API Variable col2im(const Variable& x, IntArrayRef output_size, IntArrayRef kernel_size,
                        IntArrayRef dilation, IntArrayRef padding, IntArrayRef stride);

}  // namespace ebb
