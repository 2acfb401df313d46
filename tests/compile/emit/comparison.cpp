// Files of weights of emitted functions, and a bitwise comparison.
#include "comparison.h"

#include <cstring>

namespace emitted_tests {

using ebb::Tensor;

std::string weights(const std::string& name) { return EMITTED_FOLDER "/emitted_" + name + ".safetensors"; }

bool same_bits(const Tensor& a, const Tensor& b) {
  if (a.sizes() != b.sizes() || a.dtype() != b.dtype() || a.requires_grad()) return false;
  const Tensor x = a.contiguous(), y = b.detach().contiguous();
  return std::memcmp(x.data_ptr(), y.data_ptr(), x.numel() * x.element_size()) == 0;
}

}  // namespace emitted_tests
