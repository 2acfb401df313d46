// Kernel slots of ebb::foreach: one launch for a list of tensors, because gradients are many and small.
#pragma once

#include <ebb/core/ndarray.h>

#include "kernel/call/arguments.h"
#include "kernel/call/slot.h"

namespace ebb::cpu {

/// Computes the p-norm (p not 0) of all elements of all entries. `out` has one element, Double for lists of
/// Double, otherwise Float.
void list_norm(NdArray& out, const EntryList& list, double p);
/// Multiplies all elements by max_norm / (norm + 1e-6), if that factor is below 1 or NaN. `norm` is a result
/// of list_norm.
void list_scale_to_norm(const EntryList& list, const NdArray& norm, double max_norm);
/// Clamps all elements to [low, high]. NaN is unchanged.
void list_clamp(const EntryList& list, double low, double high);
void list_zero(const EntryList& list);
/// Sets each element a of an entry's first array to a + weight (b - a), where b is the corresponding element
/// of the second array.
void list_lerp(const EntryList& list, double weight);
/// Multiplies all elements by `inverse_scale`, and sets `found_inf` to 1 if an element was infinite or NaN.
/// Both arrays have one Float element.
void list_unscale(const EntryList& list, NdArray& found_inf, const NdArray& inverse_scale);
/// Updates the scale of a gradient scaler by math::next_scale(). `scale` and `found_inf` have one Float
/// element each, `tracker` has one Int element.
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
