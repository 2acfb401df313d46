// Tensors in page-locked memory.
#include <ebb/cuda/cuda.h>
#include <ebb/data/pinned.h>

namespace ebb::data {

Variable pinned(Variable x) {
  if (!x.defined() || !x.device().is_cpu() || !cuda::is_available()) return x;
  return x.pin_memory();
}

}  // namespace ebb::data
