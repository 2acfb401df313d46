// Copy loops that convert to integer dtypes and bool.
#include <ebb/core/visit.h>

#include "ops/common/copy_row.h"

namespace ebb::cpu {

CopyRow row_to_integral(DType to, DType from) {
  return visit_integral_bool(to, "copy", [&]<class To>() -> CopyRow {
    return visit_all(from, "copy", [&]<class From>() -> CopyRow { return &convert_row<To, From>; });
  });
}

}  // namespace ebb::cpu
