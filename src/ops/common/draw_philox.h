// A draw whose numbers are a function of its words: what dropout and attention keep for backward.
#pragma once

#include <ebb/core/device.h>
#include <ebb/core/dtype.h>
#include <ebb/core/random.h>

#include "kernel/philox.h"
#include "kernel/slot_list.h"
#include "ops/common/dropout_rule.h"

namespace ebb::cpu {

/// The words of one draw on a device.
void draw_philox(Philox& out, Device device, Generator& generator);

}  // namespace ebb::cpu

#define EBB_DRAW_PHILOX_KERNELS(X) X(draw_philox, "dropout");
EBB_DECLARE_KERNELS(EBB_DRAW_PHILOX_KERNELS)

namespace ebb::ops {

/// The factor of what dropout keeps, 1 / (1 - p) rounded to the dtype's arithmetic, as a division there would
/// round it.
inline double kept_factor(DType dtype, double p) {
  return dtype == kDouble ? 1 / (1 - p) : double{1 / static_cast<float>(1 - p)};
}

/// A draw of the default generator for dropout of probability p.
inline drawing::Dropout draw_dropout(Device device, DType dtype, double p) {
  Philox philox;
  Generator generator = default_generator();
  kernels::draw_philox(device, philox, device, generator);
  return {philox, 1 - p, kept_factor(dtype, p)};
}

}  // namespace ebb::ops
