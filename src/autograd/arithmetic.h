// The few ops that the engine itself needs. Declared here so that autograd does not include the families of ops, which
// are built on it.
#pragma once

#include <ebb/autograd/variable.h>

namespace ebb {

Variable add(const Variable& a, const Variable& b, const Scalar& alpha);
Variable clone(const Variable& x, optional<MemoryFormat> format);
Variable zeros(IntArrayRef sizes, const TensorOptions& options);
Variable ones_like(const Variable& x, const TensorOptions& options, optional<MemoryFormat> format);
Variable sum_to_size(const Variable& x, IntArrayRef sizes);
Variable as_strided(const Variable& x, IntArrayRef sizes, IntArrayRef strides, optional<std::int64_t> offset);
Variable isnan(const Variable& x);
Variable any(const Variable& x);

}  // namespace ebb
