// One training step of 784-256-128-10 with SGD and cross-entropy.
#include "bench.h"

namespace {

struct Net : torch::nn::Module {
  Net() {
    fc1 = register_module("fc1", torch::nn::Linear(784, 256));
    fc2 = register_module("fc2", torch::nn::Linear(256, 128));
    fc3 = register_module("fc3", torch::nn::Linear(128, 10));
  }
  torch::Tensor forward(torch::Tensor x) {
    x = torch::relu(fc1->forward(x));
    x = torch::relu(fc2->forward(x));
    return fc3->forward(x);
  }
  torch::nn::Linear fc1{nullptr}, fc2{nullptr}, fc3{nullptr};
};

// Returns the work of a step. A step with a few images is bound by memory: forward reads the weights,
// backward writes their gradients, and the optimizer reads weights and gradients and writes the weights.
bench::Work work(double batch) {
  const double first = 784 * 256, others = 256 * 128 + 128 * 10, weights = first + others;
  return batch < 16 ? bench::bytes(4 * 5 * weights) : bench::flops(2 * batch * (3 * weights - first));
}

void train(benchmark::State& state, int64_t batch) {
  torch::manual_seed(1);
  auto net = std::make_shared<Net>();
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.01));
  const torch::Tensor images = torch::rand({batch, 784});
  const torch::Tensor labels = torch::arange(batch).remainder(10);
  bench::measure(
      state, 1, "us/step",
      [&] {
        optimizer.zero_grad();
        torch::nn::functional::cross_entropy(net->forward(images), labels).backward();
        optimizer.step();
      },
      work(static_cast<double>(batch)));
}

}  // namespace

int main(int argc, char** argv) {
  for (const int64_t batch : {1, 4, 64, 512})
    bench::add("mlp.batch" + std::to_string(batch), [=](benchmark::State& state) { train(state, batch); });
  return bench::run(argc, argv);
}
