// The innermost loops of copies, for each pair of dtypes.
#include <ebb/core/visit.h>

#include "kernel/cpu/convert_contiguous.h"
#include "ops/common/copy_row.h"

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace ebb::cpu {
namespace {

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

}  // namespace

CopyRow copy_row(DType to, DType from) {
  return visit_all(to, "copy", [&]<class To>() -> CopyRow {
    return visit_all(from, "copy", [&]<class From>() -> CopyRow { return &convert_row<To, From>; });
  });
}

}  // namespace ebb::cpu
