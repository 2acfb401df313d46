// The autograd tour, the smallest useful program. The script `weight` measures its compile time and size.
#ifdef EBB_FIDELITY_TORCH
#include <torch/torch.h>
#else
#include <ebb/ebb.h>
namespace torch = ebb;
#endif

#include <cstdio>

int main() {
  const torch::Tensor x = torch::tensor({1.0, 2.0, 3.0}, torch::requires_grad());
  const torch::Tensor a = x + 2;
  const torch::Tensor b = a.pow(2);
  const torch::Tensor c = b + 3;
  const torch::Tensor y = c.mean();
  y.backward();
  std::printf("y = %.4f, dy/dx = %.4f %.4f %.4f\n", y.item<double>(), x.grad()[0].item<double>(),
              x.grad()[1].item<double>(), x.grad()[2].item<double>());
}
