// TensorData, the argument of `tensor()`: a number, nested braces of numbers, or a vector.
#pragma once

#include <ebb/core/array_ref.h>
#include <ebb/core/scalar.h>

#include <cstddef>
#include <initializer_list>
#include <type_traits>
#include <vector>

namespace ebb::detail {

/// An argument of tensor(), valid until the end of the call (torch: torch::detail::TensorDataContainer).
class TensorData {
 public:
  enum class Kind : std::uint8_t { number, list, array };

  /// Contains no elements, as in `tensor({})`.
  TensorData() : TensorData(std::initializer_list<TensorData>{}) {}
  template <class T>
    requires std::is_arithmetic_v<T> || std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>
  TensorData(T value) : number_(value), dtype_(dtype_of<T>()), kind_(Kind::number) {}
  TensorData(std::initializer_list<TensorData> list)
      : list_{list.begin(), list.size()}, dtype_(DType::Undefined), kind_(Kind::list) {}
  template <class T>
    requires(dtype_of<T>() != DType::Undefined)
  TensorData(ArrayRef<T> values)
      : array_{values.data(), values.size()}, dtype_(dtype_of<T>()), kind_(Kind::array) {}
  template <class T>
    requires(dtype_of<T>() != DType::Undefined && !std::is_same_v<T, bool>)
  TensorData(const std::vector<T>& values) : TensorData(ArrayRef<T>(values)) {}

  Kind kind() const { return kind_; }
  /// Returns the dtype of the number or array; undefined for a list.
  DType dtype() const { return dtype_; }
  const Scalar& number() const { return number_; }
  ArrayRef<TensorData> list() const { return {static_cast<const TensorData*>(list_.data), list_.size}; }
  const void* array() const { return array_.data; }
  std::size_t array_size() const { return array_.size; }

 private:
  struct Part {
    const void* data;
    std::size_t size;
  };

  union {
    Scalar number_;
    Part list_;
    Part array_;
  };
  DType dtype_;
  Kind kind_;
};

}  // namespace ebb::detail
