// The last steps of every function that makes a tensor.
#pragma once

#include <ebb/autograd/variable.h>

#include "ops/copy/transfer.h"

namespace ebb::ops {

/// Uninitialised, as the options ask.
inline NdArray fresh_array(IntArrayRef sizes, const TensorOptions& options) {
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
    return empty_array_like(like.array(), options.dtype(), resolve_device(options.device()), format);
  }
};

}  // namespace ebb::ops
