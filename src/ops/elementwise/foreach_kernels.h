// Kernel slots for one simple thing done to many tensors at once: gradients are many and small.
#pragma once

#include <ebb/core/ndarray.h>

#include "kernel/entry_list.h"
#include "kernel/slot_list.h"

namespace ebb::cpu {

/// The p-norm (p not 0) of all elements of all entries, into the one element of `out`: Double for Double
/// lists, else Float.
void list_norm(NdArray& out, const EntryList& list, double p);
/// Every element times max_norm / (norm + 1e-6) where that is below 1 or NaN; `norm` as list_norm gives it.
void list_scale_to_norm(const EntryList& list, const NdArray& norm, double max_norm);
/// Every element into [low, high]; NaN stays.
void list_clamp(const EntryList& list, double low, double high);
void list_zero(const EntryList& list);
/// Every element of an entry's first array moves to the second's by the share `weight`.
void list_lerp(const EntryList& list, double weight);
/// Every element times `inverse_scale`; where one was infinite or NaN, `found_inf` becomes 1. Both are one
/// Float.
void list_unscale(const EntryList& list, NdArray& found_inf, const NdArray& inverse_scale);
/// A gradient scaler's next scale (math::next_scale): `scale` and `found_inf` are one Float, `tracker` one
/// Int.
void update_scale(NdArray& scale, NdArray& tracker, const NdArray& found_inf, double growth_factor,
                  double backoff_factor, std::int32_t growth_interval);

}  // namespace ebb::cpu

#define EBB_FOREACH_KERNELS(X)              \
  X(list_norm, "norm");                     \
  X(list_scale_to_norm, "clip_grad_norm_"); \
  X(list_clamp, "clip_grad_value_");        \
  X(list_zero, "zero_grad");                \
  X(list_lerp, "lerp_");                    \
  X(list_unscale, "unscale_");              \
  X(update_scale, "update_scale");
EBB_DECLARE_KERNELS(EBB_FOREACH_KERNELS)
