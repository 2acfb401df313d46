// The last steps of every function that makes a tensor.
#pragma once

#include <ebb/autograd/variable.h>

#include "ops/common/layout.h"
#include "ops/common/transfer.h"

namespace ebb::ops {

/// Whether page-locked memory is asked for, which only the CPU has.
inline bool wants_pinned(const TensorOptions& options) {
  if (!options.pinned_memory()) [[likely]]
    return false;
  EBB_CHECK(options.device().is_cpu(), "pinned_memory: only tensors of the CPU can be pinned, not those of ",
            options.device(), ". Leave it out, or make the tensor on the CPU.");
  return true;
}

/// Uninitialised, as the options ask; `op` is who says that a size is negative.
inline NdArray fresh_array(const char* op, IntArrayRef sizes, const TensorOptions& options) {
  for (const std::int64_t size : sizes)
    EBB_CHECK(size >= 0, op, ": a size is negative in shape ", sizes, "; sizes must be at least 0.");
  if (wants_pinned(options)) [[unlikely]]
    return NdArray::empty_strided(sizes, contiguous_strides(sizes), options.dtype(), Device(kCPU), true);
  return NdArray::empty(sizes, options.dtype(), resolve_device(options.device()));
}

/// Wraps the array; requires_grad as the options ask, which throws for integer dtypes.
inline Variable finish(NdArray data, const TensorOptions& options) {
  Variable out(std::move(data));
  if (options.requires_grad()) out.set_requires_grad(true);
  return out;
}

/// What `x_like(like, options, format)` asks for, with `like`'s dtype and device where the options say
/// nothing.
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
