// Matrix products, layers and training steps in microseconds. All tensors, including the parameters, are
// bfloat16.
#include "bench.h"

#include <vector>

namespace {

using torch::Tensor;
namespace nn = torch::nn;
namespace F = torch::nn::functional;

Tensor numbers(const std::vector<int64_t>& sizes) { return torch::randn(sizes).to(torch::kBFloat16); }

template <class Call>
void add(const std::string& name, double flops, Call call) {
  bench::add("bfloat16." + name, [=](benchmark::State& state) mutable {
    torch::manual_seed(1);
    call(state, bench::bfloat16_flops(flops));
  });
}

void add_product(int64_t n) {
  add("mm." + std::to_string(n), 2.0 * static_cast<double>(n * n * n), [=](auto& state, auto work) {
    const torch::NoGradGuard no_grad;
    const Tensor a = numbers({n, n}), b = numbers({n, n});
    bench::measure(state, 1, "us", [&] { torch::mm(a, b); }, work);
  });
}

// Times a layer forward and backward, with the gradients of its input and parameters.
template <class Layer>
void add_layer(const std::string& name, double products, std::vector<int64_t> shape, Layer layer) {
  add(name, 3 * 2 * products, [=](auto& state, auto work) mutable {
    layer->to(torch::kBFloat16);
    const Tensor x = numbers(shape).requires_grad_();
    std::vector<Tensor> inputs = layer->parameters();
    inputs.push_back(x);
    const Tensor slope = torch::ones_like(layer->forward(x).detach());
    bench::measure(
        state, 1, "us",
        [&] {
          for (Tensor input : inputs) input.mutable_grad() = Tensor();
          layer->forward(x).backward(slope);
        },
        work);
  });
}

template <class Net, class Loss>
void measure_step(benchmark::State& state, Net net, const bench::Work& work, const Loss& loss) {
  net->to(torch::kBFloat16);
  torch::optim::AdamW optimizer(net->parameters(), torch::optim::AdamWOptions(1e-3));
  bench::measure(
      state, 1, "us/step",
      [&] {
        optimizer.zero_grad();
        loss(net).backward();
        optimizer.step();
      },
      work);
}

void add_steps() {
  const double first = 784 * 1024, others = 1024 * 1024 + 1024 * 10;
  add("mlp", 2 * 128 * (2 * first + 3 * others), [](auto& state, auto work) {
    const Tensor x = numbers({128, 784}), classes = torch::arange(128).remainder(10);
    measure_step(state,
                 nn::Sequential(nn::Linear(784, 1024), nn::ReLU(), nn::Linear(1024, 1024), nn::ReLU(),
                                nn::Linear(1024, 10)),
                 work, [&](auto& net) { return F::cross_entropy(net->forward(x), classes); });
  });
  // For each of 1024 positions and each of two layers: four matrices of 256 x 256, two of 256 x 1024, and
  // attention over 128 steps.
  const double products = 4 * 256 * 256 + 2 * 256 * 1024 + 2 * 128 * 256;
  add("transformer", 1024 * 2 * (2 * 3 * products - 3 * 256 * 256), [](auto& state, auto work) {
    const Tensor x = numbers({128, 8, 256});
    nn::TransformerEncoderLayerOptions layer(256, 4);
    layer.dim_feedforward(1024).dropout(0);
    measure_step(state, nn::TransformerEncoder(nn::TransformerEncoderOptions(layer, 2)), work,
                 [&](auto& net) { return net->forward(x).to(torch::kFloat).square().mean(); });
  });
  add("lstm", 2 * 512.0 * 4 * 256 * (3 * (128 + 256) - 128), [](auto& state, auto work) {
    const Tensor x = numbers({32, 16, 128});
    measure_step(state, nn::LSTM(nn::LSTMOptions(128, 256)), work,
                 [&](auto& net) { return std::get<0>(net->forward(x)).to(torch::kFloat).square().mean(); });
  });
}

}  // namespace

int main(int argc, char** argv) {
  for (const int64_t n : {512, 1024, 2048}) add_product(n);
  add_layer("linear", 256.0 * 1024 * 1024, {256, 1024}, nn::Linear(1024, 1024));
  add_layer("conv3x3", 8.0 * 32 * 32 * 64 * 64 * 9, {8, 64, 32, 32},
            nn::Conv2d(nn::Conv2dOptions(64, 64, 3).padding(1)));
  add_layer("conv1x1", 2.0 * 56 * 56 * 128 * 64, {2, 128, 56, 56}, nn::Conv2d(nn::Conv2dOptions(128, 64, 1)));
  add_steps();
  return bench::run(argc, argv);
}
