// Where the build found no cuDNN: ebb's own kernels do it all.
#include "kernel/cuda/dnn.h"

namespace ebb::cuda {

bool dnn_convolve(const DnnConvolution&) { return false; }

}  // namespace ebb::cuda
