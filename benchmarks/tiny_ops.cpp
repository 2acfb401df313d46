// A chain of 1,000 tiny ops forward and backward: the overhead of an op without its arithmetic.
#include "bench.h"

namespace {

using torch::Tensor;

constexpr int kOps = 1000;

// Adds the benchmark of a chain y = step(y, c). Each call of step() consists of `ops_a_step` ops.
template <class Step>
void add(const std::string& name, int ops_a_step, Step step) {
  for (const int64_t elements : {1, 64})
    bench::add("tiny_ops." + name + "." + std::to_string(elements), [=](benchmark::State& state) {
      const Tensor x = torch::full({elements}, 0.5).requires_grad_(), c = torch::full({elements}, 0.99);
      bench::measure(state, kOps, "us/op", [&] {
        Tensor y = x;
        for (int i = 0; i < kOps; i += ops_a_step) y = step(y, c);
        y.sum().backward();
        x.mutable_grad().reset();
      });
    });
}

}  // namespace

int main(int argc, char** argv) {
  add("mul_add_tanh", 4, [](const Tensor& y, const Tensor& c) { return torch::tanh(y * c + c) * y; });
  add("sin", 1, [](const Tensor& y, const Tensor&) { return torch::sin(y); });
  add("mul_scalar", 1, [](const Tensor& y, const Tensor&) { return y * 1.0001; });
  return bench::run(argc, argv);
}
