// Training steps with much work between matrix products: a chain of elementwise ops on a million elements,
// and a linear layer before layer norm and GELU.
#include "bench.h"

namespace {

using torch::Tensor;
namespace nn = torch::nn;

// At least, a step reads its inputs and parameters and writes the parameters.
void chain(benchmark::State& state) {
  torch::manual_seed(1);
  constexpr int64_t kElements = 1000000;
  const Tensor x = torch::randn({kElements}), y = torch::rand({kElements});
  const Tensor scale = torch::rand({kElements}).requires_grad_();
  const Tensor shift = torch::rand({kElements}).requires_grad_();
  torch::optim::SGD optimizer({scale, shift}, torch::optim::SGDOptions(0.01));
  bench::measure(
      state, 1, "ms/step",
      [&] {
        optimizer.zero_grad();
        const Tensor h = torch::tanh(x * scale + shift);
        ((h * 0.5 + 0.1) * h - y).square().mean().backward();
        optimizer.step();
      },
      bench::bytes(6 * 4.0 * kElements));
}

void linear_norm_gelu(benchmark::State& state) {
  torch::manual_seed(1);
  constexpr int64_t kRows = 512, kWidth = 256, kFeatures = 1024;
  nn::Sequential net(nn::Linear(kWidth, kFeatures), nn::LayerNorm(nn::LayerNormOptions({kFeatures})),
                     nn::GELU());
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.01));
  const Tensor x = torch::randn({kRows, kWidth});
  bench::measure(
      state, 1, "ms/step",
      [&] {
        optimizer.zero_grad();
        net->forward(x).square().mean().backward();
        optimizer.step();
      },
      bench::flops(2 * 2.0 * kRows * kWidth * kFeatures));
}

}  // namespace

int main(int argc, char** argv) {
  bench::add("fusion.chain.1000000", chain);
  bench::add("fusion.linear_norm_gelu", linear_norm_gelu);
  return bench::run(argc, argv);
}
