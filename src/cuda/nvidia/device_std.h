// A replacement for the standard headers that formulas include, for NVRTC. It contains the parts of the
// standard library and the compiler builtins that formulas need, because NVRTC has neither headers nor these
// builtins.
#pragma once

constexpr float __builtin_inff() { return __builtin_bit_cast(float, 0x7f800000u); }
constexpr double __builtin_inf() { return __builtin_bit_cast(double, 0x7ff0000000000000ul); }
constexpr float __builtin_nanf(const char*) { return __builtin_bit_cast(float, 0x7fc00000u); }

namespace std {

using int8_t = signed char;
using int16_t = short;
using int32_t = int;
using int64_t = long;
using uint8_t = unsigned char;
using uint16_t = unsigned short;
using uint32_t = unsigned;
using uint64_t = unsigned long;
using size_t = unsigned long;

template <bool, class A, class>
struct conditional {
  using type = A;
};
template <class A, class B>
struct conditional<false, A, B> {
  using type = B;
};
template <bool kCondition, class A, class B>
using conditional_t = typename conditional<kCondition, A, B>::type;

template <class, class>
inline constexpr bool is_same_v = false;
template <class T>
inline constexpr bool is_same_v<T, T> = true;
template <class T>
struct remove_cv {
  using type = T;
};
template <class T>
struct remove_cv<const T> {
  using type = T;
};
template <class T>
struct remove_cv<volatile T> {
  using type = T;
};
template <class T>
struct remove_cv<const volatile T> {
  using type = T;
};
template <class T>
using remove_cv_t = typename remove_cv<T>::type;
template <class T, class... Any>
inline constexpr bool is_one_of = (is_same_v<remove_cv_t<T>, Any> || ...);
template <class T>
inline constexpr bool is_floating_point_v = is_one_of<T, float, double>;
template <class T>
inline constexpr bool is_integral_v =
    is_one_of<T, bool, char, signed char, unsigned char, short, unsigned short, int, unsigned, long,
              unsigned long, long long, unsigned long long>;
template <class T>
inline constexpr bool is_arithmetic_v = is_integral_v<T> || is_floating_point_v<T>;
template <class T>
inline constexpr bool is_signed_v = is_arithmetic_v<T> && T(-1) < T(0);
template <class T>
inline constexpr bool is_unsigned_v = is_arithmetic_v<T> && !is_signed_v<T>;
template <class B, class D>
inline constexpr bool is_base_of_v = __is_base_of(B, D);

template <class T>
struct make_unsigned {
  using type = conditional_t<
      sizeof(T) == 1, uint8_t,
      conditional_t<sizeof(T) == 2, uint16_t, conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>>;
};
template <class T>
using make_unsigned_t = typename make_unsigned<T>::type;

template <class T>
struct numeric_limits {
  static constexpr T min() { return is_signed_v<T> ? T(T(1) << (8 * sizeof(T) - 1)) : T(0); }
  static constexpr T max() { return T(~min()); }
  static constexpr T lowest() { return min(); }
};
template <>
struct numeric_limits<float> {
  static constexpr float infinity() { return __builtin_inff(); }
};
template <>
struct numeric_limits<double> {
  static constexpr double infinity() { return __builtin_inf(); }
};

template <class T, size_t kCount>
struct array {
  T values[kCount];
  constexpr T& operator[](size_t i) { return values[i]; }
  constexpr const T& operator[](size_t i) const { return values[i]; }
  constexpr size_t size() const { return kCount; }
  constexpr const T* data() const { return values; }
};
template <class T, size_t kCount>
constexpr array<T, kCount> to_array(const T (&from)[kCount]) {
  array<T, kCount> to{};
  for (size_t i = 0; i < kCount; ++i) to.values[i] = from[i];
  return to;
}
template <class... T>
struct tuple {};
template <class... T>
tuple<T&...> tie(T&...);

// Strings, streams and exceptions exist only on the host. Here they are only declared.
struct ostream;
struct string_view {
  string_view(const char*) {}
};
struct string {
  string() = default;
  string(const char*) {}
  string& operator+=(string_view) { return *this; }
  string& operator+=(const string&) { return *this; }
  string& operator+=(const char*) { return *this; }
  string& operator+=(char) { return *this; }
};
struct runtime_error {
  explicit runtime_error(const string&) {}
  virtual ~runtime_error();
  virtual const char* what() const noexcept;
};

using ::abs, ::acos, ::acosh, ::asin, ::asinh, ::atan, ::atan2, ::atanh, ::ceil, ::copysign, ::cos, ::cosh;
using ::erf, ::erfc, ::exp, ::exp2, ::expm1, ::fabs, ::floor, ::fma, ::fmod, ::frexp, ::hypot, ::isfinite;
using ::ldexp, ::lgamma, ::log, ::log10, ::log1p, ::log2, ::nearbyint, ::nextafter, ::pow, ::rint, ::sin;
using ::sinh, ::sqrt, ::tan, ::tanh, ::tgamma, ::trunc;

}  // namespace std

using std::int8_t, std::int16_t, std::int32_t, std::int64_t;
