// Optimizer steps over 200 small tensors, with the default options: microseconds a step.
#include "bench.h"

#include <vector>

namespace {

using torch::Tensor;

// Adds a step over 100 weights of `side` x `side` and 100 biases. It reads and writes `arrays` arrays of
// their size.
template <class Optimizer, class Options>
void add(const std::string& name, int64_t side, double arrays, Options options) {
  bench::add("optimizers." + name + "." + std::to_string(side), [=](benchmark::State& state) {
    torch::manual_seed(1);
    std::vector<Tensor> parameters;
    for (int i = 0; i < 100; ++i)
      for (const std::vector<int64_t>& shape : {std::vector<int64_t>{side, side}, {side}}) {
        parameters.push_back(torch::randn(shape).requires_grad_());
        parameters.back().mutable_grad() = torch::randn(shape);
      }
    Optimizer optimizer(parameters, options);
    bench::measure(
        state, 1, "us/step", [&] { optimizer.step(); },
        bench::bytes(4 * 100.0 * static_cast<double>(side * side + side) * arrays));
  });
}

}  // namespace

int main(int argc, char** argv) {
  for (const int64_t side : {8, 64}) {
    add<torch::optim::SGD>("sgd.momentum", side, 5, torch::optim::SGDOptions(1e-3).momentum(0.9));
    add<torch::optim::Adam>("adam", side, 7, torch::optim::AdamOptions(1e-3));
    add<torch::optim::AdamW>("adamw", side, 7, torch::optim::AdamWOptions(1e-3));
  }
  return bench::run(argc, argv);
}
