// Copy loops that convert to floating dtypes.
#include <ebb/core/visit.h>

#include "ops/common/copy_row.h"

namespace ebb::cpu {

CopyRow row_to_floating(DType to, DType from) {
  return visit_floating(to, "copy", [&]<class To>() -> CopyRow {
    return visit_all(from, "copy", [&]<class From>() -> CopyRow { return &convert_row<To, From>; });
  });
}

}  // namespace ebb::cpu
