// Scratch memory for CPU kernels.
#pragma once

#include <ebb/core/ndarray.h>

#include <cstdint>
#include <type_traits>

namespace ebb::cpu {

/// An array of n uninitialised elements. The memory comes from the allocator of storages, so that an
/// out-of-memory error states the size and, added by the kernel slot, the op's name.
template <class T>
class Scratch {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  Scratch() = default;
  explicit Scratch(std::int64_t n)
      : memory_(NdArray::empty({n * static_cast<std::int64_t>(sizeof(T))}, kByte)),
        data_(reinterpret_cast<T*>(memory_.address_as<std::uint8_t>())) {}
  T* get() const { return data_; }
  template <class I>
  T& operator[](I i) const {
    return data_[i];
  }

 private:
  NdArray memory_;
  T* data_ = nullptr;
};

}  // namespace ebb::cpu
