// Scalar: one number of any type, for example the `1` in `x + 1`.
#pragma once

#include <ebb/core/dtype.h>

#include <concepts>
#include <cstdint>
#include <limits>

namespace ebb {

class Scalar;

namespace detail {
[[noreturn]] EBB_API void scalar_overflow(const Scalar& value, DType dtype);
}  // namespace detail

/// Stores a bool, an integer or a double. Its kind matters for type promotion (torch: at::Scalar).
class Scalar {
 public:
  constexpr Scalar() : Scalar(std::int64_t{0}) {}
  template <class T>
    requires std::is_arithmetic_v<T>
  constexpr Scalar(T value) {
    if constexpr (std::is_same_v<T, bool>) {
      kind_ = Kind::boolean;
      integer_ = value;
    } else if constexpr (std::is_integral_v<T>) {
      kind_ = Kind::integer;
      integer_ = static_cast<std::int64_t>(value);
    } else {
      kind_ = Kind::floating;
      floating_ = static_cast<double>(value);
    }
  }
  Scalar(Half value) : Scalar(static_cast<float>(value)) {}
  Scalar(BFloat16 value) : Scalar(static_cast<float>(value)) {}

  constexpr bool is_floating_point() const { return kind_ == Kind::floating; }
  constexpr bool is_integral(bool include_bool = false) const {
    return kind_ == Kind::integer || (include_bool && kind_ == Kind::boolean);
  }
  constexpr bool is_boolean() const { return kind_ == Kind::boolean; }
  constexpr bool isFloatingPoint() const { return is_floating_point(); }
  constexpr bool isIntegral(bool include_bool) const { return is_integral(include_bool); }
  constexpr bool isBoolean() const { return is_boolean(); }

  /// Returns kDouble, kLong or kBool.
  constexpr DType dtype() const {
    return kind_ == Kind::floating ? kDouble : kind_ == Kind::integer ? kLong : kBool;
  }
  constexpr DType type() const { return dtype(); }

  /// Returns the value as a T. Throws if an integer type T cannot represent it.
  template <class T>
  constexpr T to() const {
    if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
      return T(static_cast<float>(to<double>()));
    } else {
      if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
        if (!fits<T>()) [[unlikely]]
          detail::scalar_overflow(*this, dtype_of<T>());
      return kind_ == Kind::floating ? static_cast<T>(floating_) : static_cast<T>(integer_);
    }
  }
  constexpr double to_double() const { return to<double>(); }
  constexpr std::int64_t to_long() const { return to<std::int64_t>(); }
  constexpr double toDouble() const { return to<double>(); }
  constexpr float toFloat() const { return to<float>(); }
  constexpr std::int64_t toLong() const { return to<std::int64_t>(); }
  constexpr int toInt() const { return to<int>(); }
  constexpr bool toBool() const { return to<bool>(); }
  constexpr bool equal(Scalar other) const { return to<double>() == other.to<double>(); }
  constexpr Scalar operator-() const { return is_floating_point() ? Scalar(-floating_) : Scalar(-integer_); }

 private:
  // Negative integers may convert to unsigned types, with wraparound, as in torch.
  template <class T>
  constexpr bool fits() const {
    constexpr auto low = std::numeric_limits<T>::lowest(), high = std::numeric_limits<T>::max();
    if (kind_ == Kind::floating)  // the largest 64-bit integer rounds up to a double out of range
      return floating_ >= static_cast<double>(low) &&
             (sizeof(T) < 8 ? floating_ <= static_cast<double>(high) : floating_ < static_cast<double>(high));
    if constexpr (sizeof(T) == 8)
      return true;
    else if constexpr (std::is_unsigned_v<T>)
      return integer_ <= high && -integer_ <= high;
    else
      return integer_ >= low && integer_ <= high;
  }

  enum class Kind : std::uint8_t { boolean, integer, floating };
  Kind kind_ = Kind::integer;
  union {
    std::int64_t integer_ = 0;
    double floating_;
  };
};

inline void append_text(std::string& out, const Scalar& value) {
  if (value.is_floating_point())
    detail::append_text(out, value.to_double());
  else if (value.is_boolean())
    detail::append_text(out, value.toBool());
  else
    detail::append_text(out, value.to_long());
}
EBB_API std::ostream& operator<<(std::ostream& out, const Scalar& value);
/// Prints a 16-bit float as a float.
EBB_API std::ostream& operator<<(std::ostream& out, Half value);
EBB_API std::ostream& operator<<(std::ostream& out, BFloat16 value);

/// Returns the dtype of `tensor (op) scalar`: the tensor's, unless the scalar's kind is higher (bool <
/// integer < floating).
EBB_API DType promote_with_scalar(DType tensor, const Scalar& scalar);

}  // namespace ebb
