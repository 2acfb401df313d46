// The ops of other families that this one calls.
#pragma once

#include <ebb/autograd/variable.h>

namespace ebb {

EBB_API Variable clone(const Variable& x, optional<MemoryFormat> memory_format);
EBB_API Variable contiguous(const Variable& x, MemoryFormat memory_format);
EBB_API Variable to(const Variable& x, const TensorOptions& options, bool non_blocking, bool copy,
                    optional<MemoryFormat> memory_format);
EBB_API Variable to(const Variable& x, DType dtype, bool non_blocking, bool copy,
                    optional<MemoryFormat> memory_format);
EBB_API Variable div(const Variable& self, const Variable& other);
EBB_API Variable sum(const Variable& self, OptionalIntArrayRef dim, bool keepdim, optional<ScalarType> dtype);

}  // namespace ebb
