// Prints the version of cuDNN that the plugin's search finds. Linked with cuBLASLt like the plugin, and
// without a run path.
#include "cuda/nvidia/dnn/library.h"

#include <cublasLt.h>

#include <cstdio>

int main() {
  const bool blas = cublasLtGetVersion() > 0;
  const auto* const found = ebb::cuda::dnn::find_library();
  std::printf("cuBLASLt %d, cuDNN %zu\n", blas, found ? found->version() : 0);
}
