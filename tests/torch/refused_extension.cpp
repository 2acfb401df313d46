// An extension of Python's torch.
#include <torch/extension.h>

torch::Tensor twice(const torch::Tensor& x) { return 2 * x; }
