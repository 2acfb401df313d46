// What the losses share.
#pragma once

#include <ebb/ops/elementwise.h>
#include <ebb/ops/loss.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>

#include "ops/common.h"
#include "ops/loss/kernels.h"

namespace ebb::ops {

inline void check_reduction(const char* op, std::int64_t reduction) {
  EBB_CHECK(reduction >= Reduction::None && reduction < Reduction::END, op, ": ", reduction,
            " is not a reduction. Use Reduction::None, Mean or Sum.");
}

/// The mean or sum of the values, or the values.
inline Variable reduce_loss(const Variable& values, std::int64_t reduction) {
  return reduction == Reduction::Mean ? values.mean() : reduction == Reduction::Sum ? values.sum() : values;
}

}  // namespace ebb::ops
