// Methods of Variable declared by the copy family; documented in ebb/ops/copy.h.
#pragma once

#include <ebb/core/array_ref.h>
#include <ebb/core/options.h>
#include <ebb/core/scalar.h>
#include <ebb/fwd.h>

namespace ebb::ops {

struct EBB_API CopyMethods {
  Variable clone(optional<MemoryFormat> memory_format = nullopt) const;
  Variable contiguous(MemoryFormat memory_format = MemoryFormat::Contiguous) const;

  Variable to(const TensorOptions& options = {}, bool non_blocking = false, bool copy = false,
              optional<MemoryFormat> memory_format = nullopt) const;
  Variable to(DType dtype, bool non_blocking = false, bool copy = false,
              optional<MemoryFormat> memory_format = nullopt) const;
  Variable to(Device device, DType dtype, bool non_blocking = false, bool copy = false,
              optional<MemoryFormat> memory_format = nullopt) const;
  Variable to(const Variable& other, bool non_blocking = false, bool copy = false,
              optional<MemoryFormat> memory_format = nullopt) const;
  Variable toType(DType dtype) const;
  Variable type_as(const Variable& other) const;
  Variable cpu() const;
  Variable cuda() const;

  Variable& copy_(const Variable& src, bool non_blocking = false) const;
  Variable& fill_(const Scalar& value) const;
  Variable& fill_(const Variable& value) const;
  Variable& zero_() const;
};

}  // namespace ebb::ops
