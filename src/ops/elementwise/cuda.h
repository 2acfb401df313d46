// The registration of the elementwise kernels on CUDA.
#pragma once

namespace ebb::cuda {

/// Fills the slots of all formulas.
void register_elementwise();

}  // namespace ebb::cuda
