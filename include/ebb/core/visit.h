// visit_all and others: dispatch on a run-time DType, visit_all(dtype, "op", [&]<class T> { ... }).
#pragma once

#include <ebb/core/dtype.h>

#include <cstdint>

namespace ebb {

namespace detail {
[[noreturn]] EBB_API void unsupported_dtype(const char* op, DType dtype, const char* expected);
}

/// Calls f.template operator()<T>() with the type of `dtype`, which must be float or double.
template <class F>
decltype(auto) visit_float_double(DType dtype, const char* op, F&& f) {
  switch (dtype) {
    case kFloat:
      return f.template operator()<float>();
    case kDouble:
      return f.template operator()<double>();
    default:
      detail::unsupported_dtype(op, dtype, "Float or Double");
  }
}

/// Calls f.template operator()<T>() with the type of `dtype`, which must be one of the four floating types.
template <class F>
decltype(auto) visit_floating(DType dtype, const char* op, F&& f) {
  switch (dtype) {
    case kFloat:
      return f.template operator()<float>();
    case kDouble:
      return f.template operator()<double>();
    case kHalf:
      return f.template operator()<Half>();
    case kBFloat16:
      return f.template operator()<BFloat16>();
    default:
      detail::unsupported_dtype(op, dtype, "a floating-point dtype");
  }
}

/// Calls f.template operator()<T>() with the type of `dtype`, which must be one of the five integer types
/// (not bool).
template <class F>
decltype(auto) visit_integral(DType dtype, const char* op, F&& f) {
  switch (dtype) {
    case kLong:
      return f.template operator()<std::int64_t>();
    case kInt:
      return f.template operator()<std::int32_t>();
    case kShort:
      return f.template operator()<std::int16_t>();
    case kChar:
      return f.template operator()<std::int8_t>();
    case kByte:
      return f.template operator()<std::uint8_t>();
    default:
      detail::unsupported_dtype(op, dtype, "an integer dtype");
  }
}

/// Calls f.template operator()<T>() with the type of `dtype`, which must be bool or an integer type.
template <class F>
decltype(auto) visit_integral_bool(DType dtype, const char* op, F&& f) {
  if (dtype == kBool) return f.template operator()<bool>();
  return visit_integral(dtype, op, static_cast<F&&>(f));
}

/// Calls f.template operator()<T>() with the type of `dtype`, which must be a floating or an integer type
/// (not bool).
template <class F>
decltype(auto) visit_numeric(DType dtype, const char* op, F&& f) {
  if (is_floating(dtype)) return visit_floating(dtype, op, static_cast<F&&>(f));
  return visit_integral(dtype, op, static_cast<F&&>(f));
}

/// Calls f.template operator()<T>() with the type of `dtype`, which may be any type.
template <class F>
decltype(auto) visit_all(DType dtype, const char* op, F&& f) {
  if (is_floating(dtype)) return visit_floating(dtype, op, static_cast<F&&>(f));
  return visit_integral_bool(dtype, op, static_cast<F&&>(f));
}

}  // namespace ebb
