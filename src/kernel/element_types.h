// The element types of tensors, one after another, for tables that have an entry for each.
#pragma once

#include <ebb/core/dtype.h>

#include <cstdint>

namespace ebb {

/// How many dtypes elements can have.
constexpr auto kElementTypes = static_cast<std::size_t>(DType::Undefined);

/// Calls f.operator()<T>() for the type of every dtype.
template <class F>
constexpr void for_each_element_type(const F& f) {
  f.template operator()<std::uint8_t>();
  f.template operator()<std::int8_t>();
  f.template operator()<std::int16_t>();
  f.template operator()<std::int32_t>();
  f.template operator()<std::int64_t>();
  f.template operator()<Half>();
  f.template operator()<float>();
  f.template operator()<double>();
  f.template operator()<bool>();
  f.template operator()<BFloat16>();
}

/// Calls f.operator()<T>() with the unsigned type as large as an element: to move elements needs no more.
template <class F>
void visit_bits(DType dtype, const F& f) {
  switch (element_size(dtype)) {
    case 1:
      return f.template operator()<std::uint8_t>();
    case 2:
      return f.template operator()<std::uint16_t>();
    case 4:
      return f.template operator()<std::uint32_t>();
    default:
      return f.template operator()<std::uint64_t>();
  }
}

}  // namespace ebb
