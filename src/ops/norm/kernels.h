// Kernel slots of the normalizations. Arrays are dense, in the row-major order of a NormShape. Statistics
// (mean, rstd, ...) are Double for Double input, otherwise Float. weight and bias have the dtype of the input
// and may be undefined. dweight and dbias may be undefined if they are not needed.
#pragma once

#include <ebb/core/ndarray.h>

#include "kernel/call/slot.h"

namespace ebb::kernels {

/// The shape (batch, channels, places) of an array, where places are the spatial positions.
struct NormShape {
  std::int64_t batch = 0, channels = 0, places = 0;
  std::int64_t groups = 1;  // groups of channels, for group norm
  bool centred = true;      // for layer norm; false for RMS norm, whose means are 0
};

/// The input of layer norm: x, or x + residual. Layer norm also writes the rounded sum to `sum`.
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

/// The inputs of the backward pass. Layer norm adds `more` to dx, unless `more` is undefined. The other ops
/// ignore `more`.
struct NormSaved {
  NdArray x, mean, rstd, weight;
  NdArray more = {};
};

/// The outputs of the backward pass. dx may also be undefined.
struct NormGrads {
  NdArray dx, dweight, dbias;
};

/// For each channel: mean, biased variance (undefined if it is not needed), and 1 / sqrt(variance + eps).
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

/// Writes the statistics of x, and out = (x - mean) rstd w + b.
void batch_norm_train(NdArray& out, BatchStatistics& stats, const NdArray& x, const NdArray& weight,
                      const NdArray& bias, const NormShape& shape, double eps);
/// Computes out = (x - mean) rstd w + b, with mean and rstd of each channel.
void batch_norm_apply(NdArray& out, const NormSaved& in, const NdArray& bias, const NormShape& shape);
/// Computes the gradients. With `training`, dx includes the gradients that pass through mean and rstd.
void batch_norm_backward(NormGrads& out, const NdArray& dy, const NormSaved& in, const NormShape& shape,
                         bool training);
/// Normalizes rows of channels * places / groups values. mean and rstd are given for each row, weight and
/// bias for each channel.
void group_norm(NdArray& out, NdArray& mean, NdArray& rstd, const NdArray& x, const NdArray& weight,
                const NdArray& bias, const NormShape& shape, double eps);
void group_norm_backward(NormGrads& out, const NdArray& dy, const NormSaved& in, const NormShape& shape);
/// Normalizes `batch` rows of `channels` values. weight and bias are given for each value of the row.
void layer_norm(NdArray& out, NdArray& mean, NdArray& rstd, const NormInput& in, const NdArray& weight,
                const NdArray& bias, const NormShape& shape, double eps);
/// dx may share memory with dy, x or `more`, because a row is read before it is written.
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
