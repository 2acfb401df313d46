// Registration of the pointwise losses on CUDA.
#pragma once

namespace ebb::cuda {

/// Fills the slots of kernels::PointwiseLoss.
void register_pointwise_losses();

}  // namespace ebb::cuda
