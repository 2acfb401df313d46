// Copies and conversions: clone, contiguous, to, copy_, fill_, zero_.
#pragma once

#include <ebb/autograd/variable.h>

namespace ebb {

/// A copy of x's elements in memory of its own; gradients flow through. By default (MemoryFormat::Preserve) a
/// dense tensor keeps its strides and any other keeps the order of its dimensions in memory (torch.clone).
EBB_API Variable clone(const Variable& x, optional<MemoryFormat> memory_format = nullopt);

/// x itself when its elements already lie in the given order, else a copy that does
/// (torch.Tensor.contiguous). Throws for MemoryFormat::Preserve.
EBB_API Variable contiguous(const Variable& x, MemoryFormat memory_format = MemoryFormat::Contiguous);

/// x in the dtype and on the device that `options` names; x itself when nothing changes, unless `copy` asks
/// for a copy (torch.Tensor.to). Floating to integer truncates, to bool asks whether the value is not 0.
/// Gradients come back in x's dtype, on x's device. Throws when the options ask for a gradient, and for a
/// device that cannot be used. With non_blocking, copies between a device and pinned memory of the CPU are
/// only queued on the device's current stream and the program goes on: what is copied to a device must not
/// change, and what comes back must not be read, before an event or synchronize() says that it is done. The
/// result of a non_blocking copy to the CPU is pinned. Memory that is not pinned is copied at once.
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
/// In the dtype and on the device of `other`.
EBB_API Variable to(const Variable& x, const Variable& other, bool non_blocking = false, bool copy = false,
                    optional<MemoryFormat> memory_format = nullopt);

/// Writes src into self: broadcast to self's shape, converted to its dtype, moved to its device
/// (torch.Tensor.copy_). The gradient of what self held becomes zero and that of src is the gradient of the
/// result. Throws when src does not broadcast to self's shape, when the two overlap in memory without being
/// the same tensor, and for a leaf that requires grad. non_blocking is as in to(), where the tensor of the
/// CPU is pinned.
EBB_API Variable& copy_(const Variable& self, const Variable& src, bool non_blocking = false);

/// Sets every element to `value`. Throws when an integer dtype cannot hold it (torch.Tensor.fill_).
EBB_API Variable& fill_(const Variable& self, const Scalar& value);
/// The same with a 0-d tensor, which gets the sum of the gradients. Throws for a tensor of more dimensions.
EBB_API Variable& fill_(const Variable& self, const Variable& value);
/// Sets every element to 0 (torch.Tensor.zero_).
EBB_API Variable& zero_(const Variable& self);

/// A new tensor like x, filled with `value` (torch.fill).
EBB_API Variable fill(const Variable& x, const Scalar& value);
EBB_API Variable fill(const Variable& x, const Variable& value);

}  // namespace ebb
