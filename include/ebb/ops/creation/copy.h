// Copies and conversions: clone, contiguous, to, copy_, fill_, zero_.
#pragma once

#include <ebb/autograd/variable.h>

namespace ebb {

/// Copies x's elements into new memory; differentiable. By default (MemoryFormat::Preserve) a dense tensor
/// keeps its strides, and any other tensor keeps the order of its dimensions in memory (torch.clone).
EBB_API Variable clone(const Variable& x, optional<MemoryFormat> memory_format = nullopt);

/// Returns x itself if its elements have the given order in memory, and otherwise a copy with this order
/// (torch.Tensor.contiguous). Throws for MemoryFormat::Preserve.
EBB_API Variable contiguous(const Variable& x, MemoryFormat memory_format = MemoryFormat::Contiguous);

/// Converts x to the dtype and device of `options`. Returns x itself if nothing changes, unless `copy` is
/// true (torch.Tensor.to). A conversion from floating to integer truncates, and a conversion to bool gives x
/// != 0. The gradient has x's dtype and device. Throws if the options require a gradient, and for a device
/// that cannot be used.
///
/// With non_blocking, copies between a device and pinned CPU memory are only queued on the device's current
/// stream. An event or synchronize() confirms that the copy is done. Until then, the source of a copy to a
/// device must not change, and the result of a copy to the CPU must not be read. The result of a non_blocking
/// copy to the CPU is pinned. Copies of unpinned memory block.
EBB_API Variable to(const Variable& x, const TensorOptions& options, bool non_blocking = false,
                    bool copy = false, optional<MemoryFormat> memory_format = nullopt);
EBB_API Variable to(const Variable& x, DType dtype, bool non_blocking = false, bool copy = false,
                    optional<MemoryFormat> memory_format = nullopt);
inline Variable to(const Variable& x, TypeMeta dtype, bool non_blocking = false, bool copy = false,
                   optional<MemoryFormat> memory_format = nullopt) {
  return to(x, DType(dtype), non_blocking, copy, memory_format);
}
EBB_API Variable to(const Variable& x, Device device, DType dtype, bool non_blocking = false,
                    bool copy = false, optional<MemoryFormat> memory_format = nullopt);
/// Converts x to the dtype and device of `other`.
EBB_API Variable to(const Variable& x, const Variable& other, bool non_blocking = false, bool copy = false,
                    optional<MemoryFormat> memory_format = nullopt);

/// Writes src into self: broadcasts to self's shape, converts to its dtype and moves to its device
/// (torch.Tensor.copy_). The gradient of self's old value is zero. The gradient of src is the gradient of the
/// result. Throws if src does not broadcast to self's shape, and if self is a leaf that requires grad. Also
/// throws if src and self overlap in memory without being the same tensor. If one of the tensors is on a
/// device and the other is pinned, non_blocking works as in to().
EBB_API Variable& copy_(const Variable& self, const Variable& src, bool non_blocking = false);

/// Sets every element to `value`. Throws if self has an integer dtype that cannot represent `value`
/// (torch.Tensor.fill_).
EBB_API Variable& fill_(const Variable& self, const Scalar& value);
/// Sets every element to the element of `value`. The gradient of `value` is the sum of the gradients of all
/// elements. Throws if `value` has one or more dimensions.
EBB_API Variable& fill_(const Variable& self, const Variable& value);
/// Sets every element to 0 (torch.Tensor.zero_).
EBB_API Variable& zero_(const Variable& self);

/// Returns a new tensor in the shape of x, filled with `value` (torch.fill).
EBB_API Variable fill(const Variable& x, const Scalar& value);
EBB_API Variable fill(const Variable& x, const Variable& value);

}  // namespace ebb
