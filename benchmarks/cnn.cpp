// One training step of the classic small CNN on 64 images of 1x28x28, with Adam and cross-entropy.
#include "bench.h"

int main() {
  bench::set_threads();
  torch::manual_seed(1);
  namespace nn = torch::nn;
  nn::Sequential net(nn::Conv2d(nn::Conv2dOptions(1, 32, 3)), nn::ReLU(), nn::MaxPool2d(2),
                     nn::Conv2d(nn::Conv2dOptions(32, 64, 3)), nn::ReLU(), nn::MaxPool2d(2),
                     nn::Conv2d(nn::Conv2dOptions(64, 64, 3)), nn::ReLU(), nn::Flatten(), nn::Linear(576, 64),
                     nn::ReLU(), nn::Linear(64, 10));
  torch::optim::Adam optimizer(net->parameters(), torch::optim::AdamOptions(1e-3));
  const torch::Tensor images = torch::rand({64, 1, 28, 28});
  const torch::Tensor labels = torch::arange(64).remainder(10);
  const double seconds = bench::median_seconds(
      [&] {
        optimizer.zero_grad();
        nn::functional::cross_entropy(net->forward(images), labels).backward();
        optimizer.step();
      },
      3.0);
  bench::report("cnn.train.batch64", seconds * 1e3, "ms/step");
  torch::NoGradGuard no_grad;
  const double forward = bench::median_seconds([&] { net->forward(images); }, 2.0);
  bench::report("cnn.forward.batch64", forward * 1e3, "ms");
}
