// What the CUDA plugin asks of the family.
#pragma once

#include "ops/norm/kernels.h"

namespace ebb::cuda {

decltype(ebb::cpu::batch_norm_train) batch_norm_train;
decltype(ebb::cpu::batch_norm_apply) batch_norm_apply;
decltype(ebb::cpu::batch_norm_backward) batch_norm_backward;
decltype(ebb::cpu::group_norm) group_norm;
decltype(ebb::cpu::group_norm_backward) group_norm_backward;
decltype(ebb::cpu::layer_norm) layer_norm;
decltype(ebb::cpu::layer_norm_backward) layer_norm_backward;

/// The same by a library (kernel/cuda/dnn.h), which writes no variance; false, with nothing done, where it
/// has no algorithm.
bool batch_norm_train_by_library(NdArray& out, kernels::BatchStatistics& stats, const NdArray& x,
                                 const NdArray& weight, const NdArray& bias, const kernels::NormShape& shape,
                                 double eps);
bool batch_norm_backward_by_library(kernels::NormGrads& out, const NdArray& dy, const kernels::NormSaved& in,
                                    const kernels::NormShape& shape);

/// Fills the family's kernel slots.
void register_norm();

}  // namespace ebb::cuda
