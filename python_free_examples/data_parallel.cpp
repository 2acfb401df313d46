// One batch over several replicas of a network, each on a GPU, or in a thread of the CPU: the gradients, and
// so the network that is learnt, are those of one network that sees the whole batch.
#include <ebb/ebb.h>

#include "common/images.h"
#include "common/interrupt.h"
#include "common/program.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

namespace {

namespace nn = ebb::nn;
using ebb::Tensor;
using ebb::data::datasets::MNIST;

// Replicas are clones: a module that is to have some creates what it owns in reset().
struct NetImpl : nn::Cloneable<NetImpl> {
  NetImpl() { reset(); }
  void reset() override {
    conv1 = register_module("conv1", nn::Conv2d(nn::Conv2dOptions(1, 16, 3).padding(1)));
    conv2 = register_module("conv2", nn::Conv2d(nn::Conv2dOptions(16, 32, 3).padding(1)));
    fc = register_module("fc", nn::Linear(32 * 2 * 2, 10));
  }
  Tensor forward(const Tensor& images) {
    const Tensor x = ebb::max_pool2d(ebb::relu(conv1(images)), 2);
    return fc(ebb::max_pool2d(ebb::relu(conv2(x)), 2).flatten(1));
  }
  nn::Conv2d conv1 = nullptr, conv2 = nullptr;
  nn::Linear fc = nullptr;
};
EBB_MODULE(Net);

struct Digits {
  explicit Digits(MNIST::Mode mode, ebb::Device device) {
    const MNIST digits(example::kDigits, mode);
    // In Double, roundings stay far below what one would call a difference.
    images = digits.images().to(device).to(ebb::kDouble);
    labels = digits.targets().to(device);
  }
  Tensor images, labels;
};

// Trains on the devices, and returns images a second.
double train(Net& net, const Digits& digits, const std::vector<ebb::Device>& devices, std::int64_t epochs) {
  constexpr std::int64_t kBatch = 128;
  ebb::manual_seed(1);  // the same order of images for all
  ebb::optim::SGD optimizer(net->parameters(), ebb::optim::SGDOptions(0.05).momentum(0.9));
  const auto start = std::chrono::steady_clock::now();
  for (std::int64_t epoch = 0; epoch < epochs; ++epoch)
    for (const Tensor& rows : ebb::randperm(digits.labels.size(0)).to(digits.labels.device()).split(kBatch)) {
      example::stop_if_interrupted();
      const Tensor logits = nn::parallel::data_parallel(net, digits.images.index_select(0, rows), devices);
      optimizer.zero_grad();
      nn::functional::cross_entropy(logits, digits.labels.index_select(0, rows)).backward();
      optimizer.step();
    }
  if (devices.front().is_cuda()) ebb::cuda::synchronize();
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
  return static_cast<double>(epochs * digits.labels.size(0)) / passed.count();
}

double accuracy(Net& net, const Digits& digits) {
  const ebb::NoGradGuard no_grad;
  return (net(digits.images).argmax(1) == digits.labels).to(ebb::kDouble).mean().item<double>();
}

std::vector<ebb::Device> places(ebb::Device device, std::int64_t replicas) {
  std::vector<ebb::Device> devices;
  // A GPU may have several replicas, too: there are never fewer than asked for.
  const std::int64_t gpus = static_cast<std::int64_t>(ebb::cuda::device_count());
  for (std::int64_t i = 0; i < replicas; ++i)
    devices.push_back(device.is_cuda() ? ebb::Device(ebb::kCUDA, i % gpus) : device);
  return devices;
}

int run(const example::Settings& settings, std::int64_t replicas, std::int64_t epochs) {
  if (!epochs) epochs = settings.brief ? 15 : 40;
  const std::vector<ebb::Device> all = places(settings.device, replicas);
  const Digits training(MNIST::Mode::kTrain, all.front()), test(MNIST::Mode::kTest, all.front());
  Net alone;
  alone->to(all.front(), ebb::kDouble);
  const Net copy(std::dynamic_pointer_cast<NetImpl>(alone->clone()));
  Net spread = copy;

  const double speed_alone = train(alone, training, {all.front()}, epochs);
  std::printf("one network:  %6.0f images/s, test accuracy %.3f\n", speed_alone, accuracy(alone, test));
  const double speed_spread = train(spread, training, all, epochs);
  std::printf("%lld replicas:   %6.0f images/s, test accuracy %.3f\n", static_cast<long long>(replicas),
              speed_spread, accuracy(spread, test));
  if (!settings.device.is_cuda())
    std::puts("(On a CPU one network uses all cores as well: replicas show how it is done.)");

  double difference = 0;
  const std::vector<Tensor> one = alone->parameters(), many = spread->parameters();
  for (std::size_t i = 0; i < one.size(); ++i)
    difference = std::max(difference, (one[i] - many[i]).abs().max().item<double>());
  return example::at_most("largest difference of a parameter", difference, 1e-9) |
         example::at_least("test accuracy", accuracy(spread, test), settings.brief ? 0.9 : 0.93);
}

}  // namespace

int main(int argc, char** argv) {
  example::Program program("Trains on several devices, or threads, at once.");
  std::int64_t replicas = 4, epochs = 0;
  program.option("--replicas", replicas, "on the GPUs in turn, or threads of the CPU");
  program.option("--epochs", epochs, "passes over the digits (default: 40, with --short 15)");
  return program.run(argc, argv,
                     [&](const example::Settings& settings) { return run(settings, replicas, epochs); });
}
