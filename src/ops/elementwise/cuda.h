// Registration of the elementwise kernels on CUDA.
#pragma once

namespace ebb::cuda {

void register_elementwise();

}  // namespace ebb::cuda
