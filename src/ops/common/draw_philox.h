// A draw whose numbers are a function of its words: what dropout and attention keep for backward.
#pragma once

#include <ebb/core/device.h>
#include <ebb/core/dtype.h>
#include <ebb/core/random.h>

#include "kernel/philox.h"
#include "kernel/slot.h"
#include "ops/common/dropout_rule.h"

namespace ebb::cpu {

/// The words of one draw on a device.
void draw_philox(Philox& out, Device device, Generator& generator);

}  // namespace ebb::cpu

namespace ebb::kernels {

extern EBB_API KernelSlot<decltype(cpu::draw_philox)> draw_philox;

}  // namespace ebb::kernels

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
