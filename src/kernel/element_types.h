// The element types of tensors, one after another, for tables that have an entry for each.
#pragma once

#include <ebb/core/dtype.h>

#include <cstdint>

namespace ebb {

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

}  // namespace ebb
