// Methods of Variable that copy, convert and fill; documented with the functions of the same names in
// ebb/ops/copy.h.
#pragma once

#include <ebb/core/api.h>
#include <ebb/core/array_ref.h>
#include <ebb/core/dtype.h>
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
  Variable to(TypeMeta dtype, bool non_blocking = false, bool copy = false,
              optional<MemoryFormat> memory_format = nullopt) const;
  Variable to(Device device, DType dtype, bool non_blocking = false, bool copy = false,
              optional<MemoryFormat> memory_format = nullopt) const;
  Variable to(const Variable& other, bool non_blocking = false, bool copy = false,
              optional<MemoryFormat> memory_format = nullopt) const;
  Variable to(optional<DType> dtype, optional<Layout> layout, optional<Device> device,
              optional<bool> pin_memory, bool non_blocking, bool copy,
              optional<MemoryFormat> memory_format) const;
  Variable toType(DType dtype) const;
  Variable type_as(const Variable& other) const;
  Variable cpu() const;
  Variable cuda() const;
  /// Whether the memory is page-locked: the device copies from and to it while the CPU goes on.
  bool is_pinned() const;
  /// A copy in page-locked memory; itself when it lies there already. Throws unless it is on the CPU and
  /// there is a CUDA device.
  Variable pin_memory() const;
  /// The tensor is used on a stream other than the one it was made on: once freed, its memory is not handed
  /// out again before what is queued there by then is done. Throws for tensors of the CPU unless pinned.
  void record_stream(const cuda::Stream& stream) const;
  Variable& copy_(const Variable& src, bool non_blocking = false) const;
  Variable& fill_(const Scalar& value) const;
  Variable& fill_(const Variable& value) const;
  Variable& zero_() const;
};

}  // namespace ebb::ops
