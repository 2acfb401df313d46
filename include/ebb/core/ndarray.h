// Storage seen through a shape and strides: what kernels work on.
#pragma once

#include <ebb/core/dtype.h>
#include <ebb/core/options.h>
#include <ebb/core/ref.h>
#include <ebb/core/small_vector.h>
#include <ebb/core/storage.h>

namespace ebb {

namespace detail {
/// How many threads record for ebb::compile; they must know where the host itself reads or writes elements.
extern EBB_API constinit std::atomic<int> recordings;
EBB_API void host_access(const Storage& storage);
}  // namespace detail

/// The product of the sizes; throws when it does not fit into 63 bits or a size is negative.
EBB_API std::int64_t checked_numel(IntArrayRef sizes);
/// How many elements the geometry needs of a storage, from the storage's first one on; 0 for a shape without
/// elements. Throws an error naming `op` for negative strides or offsets, for sizes and strides of different
/// lengths, and for a geometry that reaches further than memory can address.
EBB_API std::int64_t checked_extent(const char* op, IntArrayRef sizes, IntArrayRef strides,
                                    std::int64_t offset = 0);
/// Row-major strides (in elements); sizes of 0 count as 1, as in torch.
EBB_API DimVector contiguous_strides(IntArrayRef sizes);
/// The strides of an N-C-spatial tensor kept as N-spatial-C.
EBB_API DimVector channels_last_strides(IntArrayRef sizes);
/// The shape two operands broadcast to; throws an error naming `op` and both shapes.
EBB_API DimVector broadcast_shapes(const char* op, IntArrayRef a, IntArrayRef b);
/// -1 counts from the end; throws ebb::IndexError naming `op` when outside [-dims, dims).
EBB_API std::int64_t wrap_dim(const char* op, std::int64_t dim, std::int64_t dims);

/// A strided array. It has no arithmetic, so that kernels, which see only this, cannot record a graph.
class EBB_API NdArray {
 public:
  NdArray() = default;
  NdArray(Ref<Storage> storage, DimVector sizes, DimVector strides, std::int64_t offset, DType dtype);
  /// Uninitialised and contiguous.
  static NdArray empty(IntArrayRef sizes, DType dtype, Device device = Device::CPU);
  /// `pinned`: in page-locked memory of the CPU.
  static NdArray empty_strided(IntArrayRef sizes, IntArrayRef strides, DType dtype,
                               Device device = Device::CPU, bool pinned = false);

  bool defined() const { return static_cast<bool>(storage_); }
  std::int64_t dim() const { return static_cast<std::int64_t>(sizes_.size()); }
  IntArrayRef sizes() const { return sizes_; }
  IntArrayRef strides() const { return strides_; }
  std::int64_t numel() const { return numel_; }
  std::int64_t offset() const { return offset_; }  // in elements
  DType dtype() const { return dtype_; }
  Device device() const { return storage_->device(); }
  bool is_contiguous() const { return contiguous_; }
  /// Every element is reachable by one index only, and together they fill one interval of memory.
  bool is_dense() const;
  /// Whether several indices reach one element along a dimension, as expand() makes them.
  bool is_expanded() const;
  const Ref<Storage>& storage() const { return storage_; }

  /// Address of the first element, for a program that reads or writes elements: a function that is being
  /// compiled (ebb::compile) learns of it.
  void* data() const {
    if (detail::recordings.load(std::memory_order_relaxed) != 0) [[unlikely]]
      detail::host_access(*storage_);
    return address();
  }
  template <class T>
  T* data_as() const {
    return static_cast<T*>(data());
  }
  /// The same for kernels, whose calls are recorded.
  void* address() const { return static_cast<char*>(storage_->data()) + offset_ * element_size(dtype_); }
  template <class T>
  T* address_as() const {
    return static_cast<T*>(address());
  }
  /// The same elements under other sizes and strides (no copy, no check against the storage).
  NdArray as_strided(IntArrayRef sizes, IntArrayRef strides, std::int64_t offset) const;
  /// Stride 0 along broadcast dimensions; `sizes` must be a shape this array broadcasts to.
  NdArray expand(IntArrayRef sizes) const;

 private:
  void refresh();  // numel_ and contiguous_, from sizes_ and strides_

  Ref<Storage> storage_;
  DimVector sizes_;
  DimVector strides_;
  std::int64_t offset_ = 0;
  std::int64_t numel_ = 0;
  DType dtype_ = DType::Undefined;
  bool contiguous_ = true;
};

}  // namespace ebb
