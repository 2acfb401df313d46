// The innermost loop of a copy: converts one strided sequence of elements.
#pragma once

#include <ebb/core/dtype.h>

#include "kernel/cpu/convert_contiguous.h"

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace ebb::cpu {

/// Converts n elements; strides count elements. The two sequences do not overlap.
using CopyRow = void (*)(void* to, std::int64_t to_stride, const void* from, std::int64_t from_stride,
                         std::int64_t n);

/// Returns the loop that converts from one dtype to another. The loops for floating destinations and for the
/// others are compiled in separate files.
CopyRow row_to_floating(DType to, DType from);
CopyRow row_to_integral(DType to, DType from);
inline CopyRow copy_row(DType to, DType from) {
  return is_floating(to) ? row_to_floating(to, from) : row_to_integral(to, from);
}

template <class To, class From>
void convert_row(void* to, std::int64_t to_stride, const void* from, std::int64_t from_stride,
                 std::int64_t n) {
  To* const t = static_cast<To*>(to);
  const From* const f = static_cast<const From*>(from);
  if (to_stride == 1 && from_stride == 1) return convert_contiguous(t, f, n);
  if constexpr (std::is_same_v<To, From>)
    if (to_stride == 1 && from_stride == -1) {  // in reverse order, with shuffle instructions
#pragma GCC ivdep
      for (std::int64_t i = 0; i < n; ++i) t[i] = f[-i];
      return;
    }
  if (from_stride == 0) {
    const To value = convert<To>(*f);
    if (to_stride == 1)
      std::fill_n(t, n, value);
    else
      for (std::int64_t i = 0; i < n; ++i) t[i * to_stride] = value;
    return;
  }
  for (std::int64_t i = 0; i < n; ++i) t[i * to_stride] = convert<To>(f[i * from_stride]);
}

}  // namespace ebb::cpu
