// TensorAccessor: unchecked N-dimensional element access, on the host and in kernels.
#pragma once

#include <ebb/core/array_ref.h>
#include <ebb/core/half.h>

#include <cstddef>
#include <cstdint>

namespace ebb {

/// The pointer type of an accessor: a plain pointer, or with RestrictPtrTraits a __restrict__ pointer.
template <class T>
struct DefaultPtrTraits {
  using PtrType = T*;
};
template <class T>
struct RestrictPtrTraits {
  using PtrType = T* __restrict__;
};

/// Strided access to N dimensions (torch: at::TensorAccessor). The accessor does not own memory, so the
/// tensor must outlive it.
template <class T, std::size_t N, template <class> class PtrTraits = DefaultPtrTraits,
          class Index = std::int64_t>
class TensorAccessor {
 public:
  using PtrType = typename PtrTraits<T>::PtrType;

  EBB_HD TensorAccessor(PtrType data, const Index* sizes, const Index* strides)
      : data_(data), sizes_(sizes), strides_(strides) {}
  EBB_HD decltype(auto) operator[](Index i) const {
    if constexpr (N == 1)
      return static_cast<T&>(data_[i * strides_[0]]);
    else
      return TensorAccessor<T, N - 1, PtrTraits, Index>(data_ + i * strides_[0], sizes_ + 1, strides_ + 1);
  }
  EBB_HD Index size(Index dim) const { return sizes_[dim]; }
  EBB_HD Index stride(Index dim) const { return strides_[dim]; }
  ArrayRef<Index> sizes() const { return {sizes_, N}; }
  ArrayRef<Index> strides() const { return {strides_, N}; }
  EBB_HD PtrType data() const { return data_; }

 private:
  PtrType data_;
  const Index* sizes_;
  const Index* strides_;
};

/// A TensorAccessor with its own copy of sizes and strides, which kernels take by value (torch:
/// at::GenericPackedTensorAccessor).
template <class T, std::size_t N, template <class> class PtrTraits = DefaultPtrTraits,
          class Index = std::int64_t>
class GenericPackedTensorAccessor {
 public:
  using PtrType = typename PtrTraits<T>::PtrType;

  GenericPackedTensorAccessor(PtrType data, const std::int64_t* sizes, const std::int64_t* strides)
      : data_(data) {
    for (std::size_t d = 0; d < N; ++d) {
      sizes_[d] = static_cast<Index>(sizes[d]);
      strides_[d] = static_cast<Index>(strides[d]);
    }
  }
  EBB_HD decltype(auto) operator[](Index i) const {
    return TensorAccessor<T, N, PtrTraits, Index>(data_, sizes_, strides_)[i];
  }
  EBB_HD Index size(Index dim) const { return sizes_[dim]; }
  EBB_HD Index stride(Index dim) const { return strides_[dim]; }
  EBB_HD PtrType data() const { return data_; }

 private:
  PtrType data_;
  Index sizes_[N];
  Index strides_[N];
};

template <class T, std::size_t N, template <class> class PtrTraits = DefaultPtrTraits>
using PackedTensorAccessor32 = GenericPackedTensorAccessor<T, N, PtrTraits, std::int32_t>;
template <class T, std::size_t N, template <class> class PtrTraits = DefaultPtrTraits>
using PackedTensorAccessor64 = GenericPackedTensorAccessor<T, N, PtrTraits, std::int64_t>;

}  // namespace ebb
