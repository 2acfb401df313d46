// Kernel slots of the normalisations. Arrays are dense, in the row-major order of a NormShape. Statistics
// (mean, rstd, ...) are Double for Double input, else Float. weight and bias, of the input's dtype, may be
// undefined; so may dweight and dbias where nobody asks.
#pragma once

#include <ebb/core/ndarray.h>

#include "kernel/slot_list.h"

namespace ebb::kernels {

/// An array seen as (batch, channels, places).
struct NormShape {
  std::int64_t batch = 0, channels = 0, places = 0;
  std::int64_t groups = 1;  // of channels, for group norm
  bool centred = true;      // layer norm; about 0 it is RMS norm, whose means are 0
};

/// What layer norm normalises: x, or x + residual, whose rounded value it then also writes to sum.
struct NormInput {
  NdArray x, residual, sum;

  void visit(detail::ArgumentVisitor& v) {
    v.open(detail::ArgumentVisitor::Group::record, typeid(NormInput));
    v.array(x);
    v.array(residual);
    v.written = true;
    v.array(sum);
    v.close();
  }
};

/// What backward reads. more: added to dx, for layer norm alone; may be undefined.
struct NormSaved {
  NdArray x, mean, rstd, weight;
  NdArray more = {};
};

/// What backward writes; dx may be undefined too.
struct NormGrads {
  NdArray dx, dweight, dbias;
};

/// Of each channel: mean, biased variance (may be undefined where nobody asks), 1 / sqrt(variance + eps).
struct BatchStatistics {
  NdArray mean, var, rstd;
};

}  // namespace ebb::kernels

namespace ebb::cpu {

using kernels::BatchStatistics;
using kernels::NormGrads;
using kernels::NormInput;
using kernels::NormSaved;
using kernels::NormShape;

/// Writes the statistics of x, and out = (x - mean) rstd w + b by them.
void batch_norm_train(NdArray& out, BatchStatistics& stats, const NdArray& x, const NdArray& weight,
                      const NdArray& bias, const NormShape& shape, double eps);
/// out = (x - mean) rstd w + b with mean, rstd a channel.
void batch_norm_apply(NdArray& out, const NormSaved& in, const NdArray& bias, const NormShape& shape);
/// With training, mean and rstd depend on x.
void batch_norm_backward(NormGrads& out, const NdArray& dy, const NormSaved& in, const NormShape& shape,
                         bool training);
/// Rows of channels * places / groups values each; mean and rstd a row, weight and bias a channel.
void group_norm(NdArray& out, NdArray& mean, NdArray& rstd, const NdArray& x, const NdArray& weight,
                const NdArray& bias, const NormShape& shape, double eps);
void group_norm_backward(NormGrads& out, const NdArray& dy, const NormSaved& in, const NormShape& shape);
/// batch rows of `channels` values; weight and bias a value of the row.
void layer_norm(NdArray& out, NdArray& mean, NdArray& rstd, const NormInput& in, const NdArray& weight,
                const NdArray& bias, const NormShape& shape, double eps);
/// dx may lie where dy, x or `more` does: a row is read before it is written.
void layer_norm_backward(NormGrads& out, const NdArray& dy, const NormSaved& in, const NormShape& shape);

}  // namespace ebb::cpu

template <>
inline constexpr ebb::detail::KernelTraits ebb::detail::traits_of<ebb::cpu::layer_norm_backward>{
    .in_place_on_cpu = true};

#define EBB_NORM_KERNELS(X)                      \
  X(batch_norm_train, "batch_norm");             \
  X(batch_norm_apply, "batch_norm");             \
  X(batch_norm_backward, "batch_norm_backward"); \
  X(group_norm, "group_norm");                   \
  X(group_norm_backward, "group_norm_backward"); \
  X(layer_norm, "layer_norm");                   \
  X(layer_norm_backward, "layer_norm_backward");
EBB_DECLARE_KERNELS(EBB_NORM_KERNELS)
