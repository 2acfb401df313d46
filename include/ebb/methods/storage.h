// Methods of Variable about the memory under it, which other tensors may share.
#pragma once

#include <ebb/core/api.h>
#include <ebb/core/array_ref.h>
#include <ebb/core/options.h>
#include <ebb/fwd.h>

namespace ebb {
class StorageHandle;
template <class T>
class MaybeOwned;

namespace ops {

struct EBB_API StorageMethods {
  /// The memory, all of it, whatever part this tensor shows (Tensor.storage).
  StorageHandle storage() const;
  /// Whether the tensor has memory: true of every defined one (Tensor.has_storage).
  bool has_storage() const;
  /// Whether both show the same elements of the same memory (Tensor.is_set_to).
  bool is_set_to(const Variable& other) const;
  /// Shows other memory from now on: that of a tensor, in its sizes and strides, or a storage as one
  /// dimension or in the sizes, strides and offset given (in elements); without arguments, none. The tensor
  /// keeps its dtype, which `source` must have. Throws for what does not fit into the storage, for another
  /// device, and for a tensor whose gradient is recorded (Tensor.set_).
  Variable& set_(const Variable& source) const;
  Variable& set_(const StorageHandle& source) const;
  Variable& set_(const StorageHandle& source, std::int64_t storage_offset, IntArrayRef size,
                 IntArrayRef stride = {}) const;
  Variable& set_() const;
  /// The memory format that the strides are those of: ChannelsLast, ChannelsLast3d or else Contiguous.
  MemoryFormat suggest_memory_format() const;
  /// The tensor itself where it is contiguous, else a copy that is. What is returned borrows from it.
  MaybeOwned<Variable> expect_contiguous() const;
  /// Writes type and sizes, "[CPUFloatType [2, 3]]", to stderr.
  void print() const;
};

}  // namespace ops
}  // namespace ebb
