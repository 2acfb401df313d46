// Types of kernel arguments: operands of elementwise kernels, lists of tensors, arrays that may be undefined,
// and the members of argument structs.
#pragma once

#include <ebb/core/device.h>
#include <ebb/core/dtype.h>
#include <ebb/core/ndarray.h>
#include <ebb/core/scalar.h>
#include <ebb/core/visit.h>

#include "kernel/convert.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

namespace ebb {

namespace detail {

/// An operand of an elementwise kernel: an array of the op's dtype that is broadcast to the output, or, if
/// `array` is null, the scalar `value`.
struct Operand {
  const NdArray* array = nullptr;
  Scalar value;
  const NdArray* read_from = nullptr;  // the 0-d CPU array that contained the scalar
  Operand() = default;
  Operand(const NdArray& a) : array(&a) {}
  Operand(const Scalar& v) : value(v) {}
  Operand(const Scalar& v, const NdArray& from) : value(v), read_from(&from) {}
};

}  // namespace detail

/// Converts the value to an element of the dtype, and returns the bits of the element in the low bytes of the
/// result.
inline std::uint64_t element_bits(const Scalar& value, DType dtype) {
  return visit_all(dtype, "scalar", [&]<class T> {
    const T number = element<T>(value);
    std::uint64_t bits = 0;
    std::memcpy(&bits, &number, sizeof(T));
    return bits;
  });
}

/// The arrays of one entry, for example a parameter, its gradient and its moments. Each has `count`
/// contiguous elements.
struct TensorEntry {
  std::array<void*, 6> at{};
  std::int64_t count = 0;
};

/// A list of entries that all have the same dtype and device.
struct EntryList {
  Device device;
  DType dtype;
  std::span<const TensorEntry> entries;
};

/// Returns the address of the elements; null if the array is undefined.
template <class T>
T* data_or_null(const NdArray& x) {
  return x.defined() ? x.address_as<T>() : nullptr;
}

}  // namespace ebb

namespace ebb::detail {

struct AnyField {
  template <class T>
  operator T() const;
};

template <class T>
struct AnyBase {
  template <class B>
    requires(std::is_base_of_v<B, T> && !std::is_same_v<B, T>)
  operator B() const;
};

template <class T, std::size_t... I>
constexpr bool takes_fields(std::index_sequence<I...>) {
  return requires { T{(static_cast<void>(I), AnyField())...}; };
}

template <class T>
inline constexpr bool kListsFields = requires(T& x) { x.fields(); };
/// True if T is an aggregate with an empty base class. The initialiser list of such an aggregate begins with
/// the base class.
template <class T>
inline constexpr bool kEmptyBase = !kListsFields<T> && requires { T{AnyBase<T>()}; };

template <class T, std::size_t kMost = 12>
constexpr std::size_t count_fields() {
  static_assert(kMost > 0, "an aggregate of at most 12 members; others have fields()");
  if constexpr (takes_fields<T>(std::make_index_sequence<kMost>()))
    return kEmptyBase<T> ? kMost - 1 : kMost;
  else
    return count_fields<T, kMost - 1>();
}

/// Returns references to the members of x, in order. A struct with arrays or with base classes that have
/// members must list its members itself, in fields() or in its own overload of fields_of().
template <class T>
auto fields_of(T& x) {
  if constexpr (kListsFields<T>) {
    return x.fields();
  } else {
    constexpr std::size_t n = count_fields<std::remove_const_t<T>>();
    if constexpr (n == 1) {
      auto& [a] = x;
      return std::tie(a);
    } else if constexpr (n == 2) {
      auto& [a, b] = x;
      return std::tie(a, b);
    } else if constexpr (n == 3) {
      auto& [a, b, c] = x;
      return std::tie(a, b, c);
    } else if constexpr (n == 4) {
      auto& [a, b, c, d] = x;
      return std::tie(a, b, c, d);
    } else if constexpr (n == 5) {
      auto& [a, b, c, d, e] = x;
      return std::tie(a, b, c, d, e);
    } else if constexpr (n == 6) {
      auto& [a, b, c, d, e, f] = x;
      return std::tie(a, b, c, d, e, f);
    } else if constexpr (n == 7) {
      auto& [a, b, c, d, e, f, g] = x;
      return std::tie(a, b, c, d, e, f, g);
    } else if constexpr (n == 11) {
      auto& [a, b, c, d, e, f, g, h, i, j, k] = x;
      return std::tie(a, b, c, d, e, f, g, h, i, j, k);
    } else {
      static_assert(n == 0, "fields() has no case for a struct with this number of members: add it");
    }
  }
}

}  // namespace ebb::detail
