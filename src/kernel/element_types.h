// The element types of tensors, for tables with an entry for each type.
#pragma once

#include <ebb/core/dtype.h>

#include <cstdint>

namespace ebb {

/// The number of dtypes that elements can have.
constexpr auto kElementTypes = static_cast<std::size_t>(DType::Undefined);

/// Calls f.operator()<T>() for the type of each dtype.
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

/// Calls f.operator()<T>() with the unsigned integer type of the element's size, for kernels that only copy
/// elements.
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
