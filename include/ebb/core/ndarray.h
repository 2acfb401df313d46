// NdArray: a storage with sizes, strides and a dtype, on which kernels work.
#pragma once

#include <ebb/core/dtype.h>
#include <ebb/core/options.h>
#include <ebb/core/ref.h>
#include <ebb/core/small_vector.h>
#include <ebb/core/storage.h>

namespace ebb {

namespace detail {
/// The number of threads that record for ebb::compile. While this number is not 0, data() calls host_access()
/// to report that the host reads or writes elements.
extern EBB_API constinit std::atomic<int> recordings;
EBB_API void host_access(const Storage& storage);
}  // namespace detail

/// Returns the product of the sizes. Throws if it does not fit into 63 bits or a size is negative.
EBB_API std::int64_t checked_numel(IntArrayRef sizes);
/// Returns the number of elements that the geometry needs, counted from the storage's first element; 0 for a
/// shape without elements. Throws an error that names `op` for a negative stride or offset, for sizes and
/// strides of different lengths, and for a geometry beyond addressable memory.
EBB_API std::int64_t checked_extent(const char* op, IntArrayRef sizes, IntArrayRef strides,
                                    std::int64_t offset = 0);
/// Returns row-major strides in elements. Sizes of 0 count as 1, as in torch.
EBB_API DimVector contiguous_strides(IntArrayRef sizes);
/// Returns the strides of an N-C-spatial tensor stored as N-spatial-C.
EBB_API DimVector channels_last_strides(IntArrayRef sizes);
/// Returns the shape that two operands broadcast to. Throws an error that names `op` and both shapes.
EBB_API DimVector broadcast_shapes(const char* op, IntArrayRef a, IntArrayRef b);
/// Wraps a negative dim: -1 is the last. Throws an ebb::IndexError that names `op` if `dim` is outside
/// [-dims, dims).
EBB_API std::int64_t wrap_dim(const char* op, std::int64_t dim, std::int64_t dims);

/// A strided array without arithmetic. Kernels get only NdArrays, so they cannot record a graph.
class EBB_API NdArray {
 public:
  NdArray() = default;
  NdArray(Ref<Storage> storage, DimVector sizes, DimVector strides, std::int64_t offset, DType dtype);
  /// Returns an uninitialised contiguous array.
  static NdArray empty(IntArrayRef sizes, DType dtype, Device device = Device::CPU);
  /// With `pinned`, allocates page-locked CPU memory.
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
  /// Returns whether each element has exactly one index, and the elements fill one interval of memory without
  /// gaps.
  bool is_dense() const;
  /// Returns whether several indices along a dimension refer to the same element, as in the result of
  /// expand().
  bool is_expanded() const;
  const Ref<Storage>& storage() const { return storage_; }

  /// Returns the address of the first element, for a program that reads or writes elements. Reports the
  /// access to ebb::compile while a function is being recorded.
  void* data() const {
    if (detail::recordings.load(std::memory_order_relaxed) != 0) [[unlikely]]
      detail::host_access(*storage_);
    return address();
  }
  template <class T>
  T* data_as() const {
    return static_cast<T*>(data());
  }
  /// Returns the address of the first element and reports nothing. It is for kernels, because ebb::compile
  /// records their calls.
  void* address() const { return static_cast<char*>(storage_->data()) + offset_ * element_size(dtype_); }
  template <class T>
  T* address_as() const {
    return static_cast<T*>(address());
  }
  /// Returns an array on the same storage with other sizes and strides. Does not check whether the array fits
  /// into the storage.
  NdArray as_strided(IntArrayRef sizes, IntArrayRef strides, std::int64_t offset) const;
  /// Sets the stride to 0 along broadcast dimensions. `sizes` must be a shape that this array broadcasts to.
  NdArray expand(IntArrayRef sizes) const;

 private:
  void refresh();  // computes numel_ and contiguous_ from sizes_ and strides_

  Ref<Storage> storage_;
  DimVector sizes_;
  DimVector strides_;
  std::int64_t offset_ = 0;
  std::int64_t numel_ = 0;
  DType dtype_ = DType::Undefined;
  bool contiguous_ = true;
};

}  // namespace ebb
