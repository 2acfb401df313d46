// Unchecked N-dimensional element access.
#pragma once

#include <ebb/core/array_ref.h>

#include <cstddef>
#include <cstdint>

namespace ebb {

/// Strided access to N dimensions (torch: at::TensorAccessor). Borrows: the tensor must outlive it.
template <class T, std::size_t N>
class TensorAccessor {
 public:
  TensorAccessor(T* data, const std::int64_t* sizes, const std::int64_t* strides)
      : data_(data), sizes_(sizes), strides_(strides) {}
  decltype(auto) operator[](std::int64_t i) const {
    if constexpr (N == 1)
      return static_cast<T&>(data_[i * strides_[0]]);
    else
      return TensorAccessor<T, N - 1>(data_ + i * strides_[0], sizes_ + 1, strides_ + 1);
  }
  std::int64_t size(std::int64_t dim) const { return sizes_[dim]; }
  std::int64_t stride(std::int64_t dim) const { return strides_[dim]; }
  IntArrayRef sizes() const { return {sizes_, N}; }
  IntArrayRef strides() const { return {strides_, N}; }
  T* data() const { return data_; }

 private:
  T* data_;
  const std::int64_t* sizes_;
  const std::int64_t* strides_;
};

}  // namespace ebb
