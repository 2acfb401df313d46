// One training step of the classic small CNN on 1, 4 and 64 images of 1x28x28, with Adam and cross-entropy.
#include "bench.h"
#include "layout.h"

namespace {

namespace nn = torch::nn;

// The operations of a forward pass on an image, and of the first layer only (kFirst), because the input of
// the first layer needs no gradient.
constexpr double kFirst = 2.0 * 26 * 26 * 32 * 9;
constexpr double kForward = kFirst + 2.0 * (11 * 11 * 64 * 32 * 9 + 3 * 3 * 64 * 64 * 9 + 576 * 64 + 64 * 10);

nn::Sequential make_net() {
  torch::manual_seed(1);
  return nn::Sequential(nn::Conv2d(nn::Conv2dOptions(1, 32, 3)), nn::ReLU(), nn::MaxPool2d(2),
                        nn::Conv2d(nn::Conv2dOptions(32, 64, 3)), nn::ReLU(), nn::MaxPool2d(2),
                        nn::Conv2d(nn::Conv2dOptions(64, 64, 3)), nn::ReLU(), nn::Flatten(),
                        nn::Linear(576, 64), nn::ReLU(), nn::Linear(64, 10));
}

void train(benchmark::State& state, int64_t batch, bool channels_last) {
  nn::Sequential net = make_net();
  if (channels_last) bench::make_channels_last(*net);
  torch::optim::Adam optimizer(net->parameters(), torch::optim::AdamOptions(1e-3));
  const torch::Tensor made = torch::rand({batch, 1, 28, 28});
  const torch::Tensor images = channels_last ? bench::channels_last(made) : made;
  const torch::Tensor labels = torch::arange(batch).remainder(10);
  bench::measure(
      state, 1, "ms/step",
      [&] {
        optimizer.zero_grad();
        nn::functional::cross_entropy(net->forward(images), labels).backward();
        optimizer.step();
      },
      bench::flops(static_cast<double>(batch) * (3 * kForward - kFirst)));
}

void forward(benchmark::State& state) {
  nn::Sequential net = make_net();
  const torch::Tensor images = torch::rand({64, 1, 28, 28});
  const torch::NoGradGuard no_grad;
  bench::measure(state, 1, "ms", [&] { net->forward(images); }, bench::flops(64 * kForward));
}

}  // namespace

int main(int argc, char** argv) {
  for (const int64_t batch : {1, 4, 64})
    bench::add("cnn.train.batch" + std::to_string(batch),
               [=](benchmark::State& state) { train(state, batch, false); });
  bench::add("cnn.train.batch64.channels_last", [](benchmark::State& state) { train(state, 64, true); });
  bench::add("cnn.forward.batch64", forward);
  return bench::run(argc, argv);
}
