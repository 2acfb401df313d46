// A chain of 1,000 tiny ops forward and backward: what one op costs when its arithmetic costs nothing.
#include "bench.h"

namespace {

constexpr int kOps = 1000;

template <class Step>
void measure(const std::string& name, int64_t elements, int ops_a_step, Step step) {
  torch::Tensor x = torch::full({elements}, 0.5).requires_grad_();
  const double seconds = bench::median_seconds([&] {
    torch::Tensor y = x;
    for (int i = 0; i < kOps; i += ops_a_step) y = step(y);
    y.sum().backward();
    x.mutable_grad().reset();
  });
  bench::report("tiny_ops." + name + "." + std::to_string(elements), seconds / kOps * 1e6, "us/op");
}

}  // namespace

int main() {
  bench::set_threads();
  for (int64_t elements : {1, 64}) {
    const torch::Tensor c = torch::full({elements}, 0.99);
    measure("mul_add_tanh", elements, 4, [&](const torch::Tensor& y) { return torch::tanh(y * c + c) * y; });
    measure("sin", elements, 1, [](const torch::Tensor& y) { return torch::sin(y); });
    measure("mul_scalar", elements, 1, [](const torch::Tensor& y) { return y * 1.0001; });
  }
}
