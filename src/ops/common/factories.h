// The last steps of functions that create a tensor, and the options of x_like functions.
#pragma once

#include <ebb/autograd/variable.h>

#include "ops/common/arrays.h"
#include "ops/common/layout.h"

namespace ebb::ops {

/// Returns whether the options request page-locked memory. Throws if they request it on another device than
/// the CPU.
inline bool wants_pinned(const TensorOptions& options) {
  if (!options.pinned_memory()) [[likely]]
    return false;
  EBB_CHECK(options.device().is_cpu(), "pinned_memory: only CPU tensors can be pinned, got device ",
            options.device(), ". Leave pinned_memory out, or create the tensor on the CPU.");
  return true;
}

/// Returns an uninitialised array with the given options. Throws in the name of `op` if a size is negative.
inline NdArray fresh_array(const char* op, IntArrayRef sizes, const TensorOptions& options) {
  for (const std::int64_t size : sizes)
    EBB_CHECK(size >= 0, op, ": a size is negative in shape ", sizes, "; sizes must be at least 0.");
  if (wants_pinned(options)) [[unlikely]]
    return NdArray::empty_strided(sizes, contiguous_strides(sizes), options.dtype(), Device(kCPU), true);
  return NdArray::empty(sizes, options.dtype(), resolve_device(options.device()));
}

/// Wraps the array in a tensor. Sets requires_grad if the options request it, which throws for integer
/// dtypes.
inline Variable finish(NdArray data, const TensorOptions& options) {
  Variable out(std::move(data));
  if (options.requires_grad()) out.set_requires_grad(true);
  return out;
}

/// The options of `x_like(like, options, format)`. The default dtype and device are those of `like`.
struct LikeRequest {
  TensorOptions options;
  optional<MemoryFormat> format;
  LikeRequest(const char* op, const Variable& like, const TensorOptions& given,
              optional<MemoryFormat> memory_format)
      : options(given.or_else(like.options())),
        format(memory_format ? memory_format : given.memory_format_opt()) {
    EBB_CHECK(!memory_format || !given.has_memory_format(), op,
              ": the memory format is given twice, in the options and as an argument. Give it once.");
  }
  NdArray array(const Variable& like) const {
    if (wants_pinned(options)) [[unlikely]]
      return NdArray::empty_strided(like.sizes(), strides_like(like.array(), format), options.dtype(),
                                    Device(kCPU), true);
    return empty_array_like(like.array(), options.dtype(), resolve_device(options.device()), format);
  }
};

}  // namespace ebb::ops
