// Says which cuDNN the plugin's own search finds. Linked with cuBLASLt, as the plugin is, and without a run
// path.
#include "cuda/nvidia/dnn/library.h"

#include <cublasLt.h>

#include <cstdio>

int main() {
  const bool blas = cublasLtGetVersion() > 0;
  const auto* const found = ebb::cuda::dnn::find_library();
  std::printf("cuBLASLt %d, cuDNN %zu\n", blas, found ? found->version() : 0);
}
