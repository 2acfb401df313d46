// One training step of the classic small CNN on 64 images of 1x28x28, with Adam and cross-entropy.
#include "bench.h"

namespace {

namespace nn = torch::nn;

// The operations of a forward pass on 64 images, and of the first layer only (kFirst), because the input of
// the first layer needs no gradient.
constexpr double kFirst = 64 * 2.0 * 26 * 26 * 32 * 9;
constexpr double kForward =
    kFirst + 64 * 2.0 * (11 * 11 * 64 * 32 * 9 + 3 * 3 * 64 * 64 * 9 + 576 * 64 + 64 * 10);

nn::Sequential make_net() {
  torch::manual_seed(1);
  return nn::Sequential(nn::Conv2d(nn::Conv2dOptions(1, 32, 3)), nn::ReLU(), nn::MaxPool2d(2),
                        nn::Conv2d(nn::Conv2dOptions(32, 64, 3)), nn::ReLU(), nn::MaxPool2d(2),
                        nn::Conv2d(nn::Conv2dOptions(64, 64, 3)), nn::ReLU(), nn::Flatten(),
                        nn::Linear(576, 64), nn::ReLU(), nn::Linear(64, 10));
}

void train(benchmark::State& state) {
  nn::Sequential net = make_net();
  torch::optim::Adam optimizer(net->parameters(), torch::optim::AdamOptions(1e-3));
  const torch::Tensor images = torch::rand({64, 1, 28, 28});
  const torch::Tensor labels = torch::arange(64).remainder(10);
  bench::measure(
      state, 1, "ms/step",
      [&] {
        optimizer.zero_grad();
        nn::functional::cross_entropy(net->forward(images), labels).backward();
        optimizer.step();
      },
      bench::flops(3 * kForward - kFirst));
}

void forward(benchmark::State& state) {
  nn::Sequential net = make_net();
  const torch::Tensor images = torch::rand({64, 1, 28, 28});
  const torch::NoGradGuard no_grad;
  bench::measure(state, 1, "ms", [&] { net->forward(images); }, bench::flops(kForward));
}

}  // namespace

int main(int argc, char** argv) {
  bench::add("cnn.train.batch64", train);
  bench::add("cnn.forward.batch64", forward);
  return bench::run(argc, argv);
}
