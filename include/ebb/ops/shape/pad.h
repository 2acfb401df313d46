// Padding, and sliding windows as columns.
#pragma once

#include <ebb/autograd/variable.h>

#include <string_view>

namespace ebb {

/// x with `value` around it: pad holds (before, after) of the last dimension, then of the one before it, and
/// so on. Negative amounts cut. (torch.constant_pad_nd)
EBB_API Variable constant_pad_nd(const Variable& x, IntArrayRef pad, const Scalar& value = 0);
/// The same in mode "constant", "reflect", "replicate" or "circular"; the others pad the last one, two or
/// three dimensions and take no value. (torch.nn.functional.pad)
EBB_API Variable pad(const Variable& x, IntArrayRef pad, std::string_view mode = "constant",
                     optional<double> value = nullopt);
/// Mirrored at the border, without repeating the border itself.
EBB_API Variable reflection_pad1d(const Variable& x, IntArrayRef padding);
EBB_API Variable reflection_pad2d(const Variable& x, IntArrayRef padding);
EBB_API Variable reflection_pad3d(const Variable& x, IntArrayRef padding);
/// The border repeated.
EBB_API Variable replication_pad1d(const Variable& x, IntArrayRef padding);
EBB_API Variable replication_pad2d(const Variable& x, IntArrayRef padding);
EBB_API Variable replication_pad3d(const Variable& x, IntArrayRef padding);

/// Windows of a (N,) C x H x W image as columns: (N,) C kh kw x blocks. (torch.nn.functional.unfold)
EBB_API Variable im2col(const Variable& x, IntArrayRef kernel_size, IntArrayRef dilation, IntArrayRef padding,
                        IntArrayRef stride);
/// The transpose of im2col: columns added up where they came from. (torch.nn.functional.fold)
EBB_API Variable col2im(const Variable& x, IntArrayRef output_size, IntArrayRef kernel_size,
                        IntArrayRef dilation, IntArrayRef padding, IntArrayRef stride);

}  // namespace ebb
