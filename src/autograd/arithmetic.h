// The few ops that the engine and what stands around it need. Declared here so that autograd does not include
// the families of ops, which are built on it.
#pragma once

#include <ebb/autograd/variable.h>

namespace ebb {

Variable add(const Variable& a, const Variable& b, const Scalar& alpha);
Variable& add_(const Variable& self, const Variable& other, const Scalar& alpha);
Variable clone(const Variable& x, optional<MemoryFormat> format);
Variable& copy_(const Variable& self, const Variable& src, bool non_blocking);
Variable& fill_(const Variable& self, const Scalar& value);
Variable& zero_(const Variable& self);
Variable to(const Variable& x, DType dtype, bool non_blocking, bool copy, optional<MemoryFormat> format);
Variable to(const Variable& x, const TensorOptions& options, bool non_blocking, bool copy,
            optional<MemoryFormat> format);
Variable zeros(IntArrayRef sizes, const TensorOptions& options);
Variable ones_like(const Variable& x, const TensorOptions& options, optional<MemoryFormat> format);
Variable sum_to_size(const Variable& x, IntArrayRef sizes);
Variable as_strided(const Variable& x, IntArrayRef sizes, IntArrayRef strides, optional<std::int64_t> offset);
Variable isnan(const Variable& x);
Variable mul(const Variable& a, const Variable& b);
Variable sum(const Variable& x, optional<DType> dtype);
Variable stack(TensorList tensors, std::int64_t dim);
Variable reshape(const Variable& x, IntArrayRef sizes);
Variable view_as(const Variable& x, const Variable& other);
Variable any(const Variable& x);

}  // namespace ebb
