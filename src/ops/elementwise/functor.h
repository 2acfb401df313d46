// What the formulas of the family have in common: a functor says for which dtypes it is defined, and its call
// operator is the formula. It is passed by value to kernels; parameters are its members.
#pragma once

#include <ebb/core/scalar.h>

#include <type_traits>

#include "kernel/convert.h"

namespace ebb::ops {

/// The dtypes an op is defined for. `floating` ops take integers too, converted to the default dtype; strict
/// ones refuse.
enum class Types : std::uint8_t { floating, strict_floating, numeric, all, integral, integral_bool };

constexpr bool has_type(Types types, DType dtype) {
  switch (types) {
    case Types::floating:
    case Types::strict_floating:
      return is_floating(dtype);
    case Types::numeric:
      return dtype != kBool;
    case Types::integral:
      return is_integral(dtype);
    case Types::integral_bool:
      return !is_floating(dtype);
    default:
      return true;
  }
}

using ebb::Compute;

/// A functor whose first operand is a condition: Where.
template <class Op, class C>
concept TakesCondition = requires(const Op& op, bool c, C x) {
  requires Op::kName[0] == 'w';
  op(c, x, x);
};

/// A Scalar made ready for inner loops: no branch on its kind.
struct Number {
  double floating = 0;
  std::int64_t integer = 0;
  Number() = default;
  Number(const Scalar& s) : floating(s.to_double()), integer(s.is_floating_point() ? 0 : s.to_long()) {
    if (s.is_floating_point() && floating > -9.2e18 && floating < 9.2e18) integer = s.to_long();
  }
  template <class T>
  EBB_HD T as() const {
    if constexpr (std::is_floating_point_v<T>)
      return static_cast<T>(floating);
    else
      return static_cast<T>(integer);
  }
};

template <class... Ops>
struct List {};

template <class... Lists>
struct JoinLists;
template <class... A>
struct JoinLists<List<A...>> {
  using type = List<A...>;
};
template <class... A, class... B, class... Rest>
struct JoinLists<List<A...>, List<B...>, Rest...> : JoinLists<List<A..., B...>, Rest...> {};
template <class... Lists>
using Join = typename JoinLists<Lists...>::type;

}  // namespace ebb::ops
