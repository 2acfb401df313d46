#include <ebb/nn/functional/linear.h>
#include <ebb/ops/linalg.h>

namespace ebb::nn::functional {

Variable linear(const Variable& input, const Variable& weight, const Variable& bias) {
  return bias.defined() ? ebb::linear(input, weight, bias) : ebb::linear(input, weight);
}

Variable bilinear(const Variable& input1, const Variable& input2, const Variable& weight,
                  const Variable& bias) {
  return bias.defined() ? ebb::bilinear(input1, input2, weight, bias) : ebb::bilinear(input1, input2, weight);
}

}  // namespace ebb::nn::functional
