// The Philox state of a dropout: dropout and attention save it for backward and recompute the mask from it.
#pragma once

#include <ebb/core/device.h>
#include <ebb/core/dtype.h>
#include <ebb/core/random.h>

#include "kernel/philox.h"
#include "kernel/slot_list.h"
#include "ops/common/dropout_rule.h"

namespace ebb::cpu {

/// Takes the Philox state of one dropout from the generator.
void draw_philox(Philox& out, Device device, Generator& generator);

}  // namespace ebb::cpu

#define EBB_DRAW_PHILOX_KERNELS(X) X(draw_philox, "dropout");
EBB_DECLARE_KERNELS(EBB_DRAW_PHILOX_KERNELS)

namespace ebb::ops {

/// Returns the factor of the elements that dropout keeps: 1 / (1 - p), rounded as a division in the
/// arithmetic of the dtype.
inline double kept_factor(DType dtype, double p) {
  return dtype == kDouble ? 1 / (1 - p) : double{1 / static_cast<float>(1 - p)};
}

/// Returns the dropout rule of probability p, with a Philox state from the default generator.
inline drawing::Dropout draw_dropout(Device device, DType dtype, double p) {
  Philox philox;
  Generator generator = default_generator();
  kernels::draw_philox(device, philox, device, generator);
  return {philox, 1 - p, kept_factor(dtype, p)};
}

}  // namespace ebb::ops
