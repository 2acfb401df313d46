// Data parallelism: replicas of a network run on several GPUs, or in threads of the CPU. Each replica
// processes a part of the batch.
//
// Trained on the 1,797 handwritten digits of this repository. The gradients are those of the whole batch, so
// the replicas learn the same parameters as one network. Expected: differences of at most 1e-9 in double
// precision (2e-15 was reached), in 3 s on two cores. The short form takes 1 s. On a CPU replicas are not
// faster, because one network also uses all cores.
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

// A replica is created by clone(), so the module derives from Cloneable and creates its members in reset().
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
    // In double precision, rounding differences are far below the stated bound.
    images = digits.images().to(device).to(ebb::kDouble);
    labels = digits.targets().to(device);
  }
  Tensor images, labels;
};

// Trains on the devices and returns the images per second.
double train(Net& net, const Digits& digits, const std::vector<ebb::Device>& devices, std::int64_t epochs) {
  constexpr std::int64_t kBatch = 128;
  ebb::manual_seed(1);  // the same order of images in each training
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

// Returns one device per replica. If there are fewer GPUs than replicas, some GPUs have several replicas.
std::vector<ebb::Device> devices_of(ebb::Device device, std::int64_t replicas) {
  std::vector<ebb::Device> devices;
  const std::int64_t gpus = static_cast<std::int64_t>(ebb::cuda::device_count());
  for (std::int64_t i = 0; i < replicas; ++i)
    devices.push_back(device.is_cuda() ? ebb::Device(ebb::kCUDA, i % gpus) : device);
  return devices;
}

int run(const example::Settings& settings, std::int64_t replicas, std::int64_t epochs) {
  if (!epochs) epochs = settings.brief ? 15 : 40;
  const std::vector<ebb::Device> all = devices_of(settings.device, replicas);
  const Digits training(MNIST::Mode::kTrain, all.front()), test(MNIST::Mode::kTest, all.front());
  Net single;
  single->to(all.front(), ebb::kDouble);
  Net replicated(std::dynamic_pointer_cast<NetImpl>(single->clone()));

  const double single_speed = train(single, training, {all.front()}, epochs);
  std::printf("one network:  %6.0f images/s, test accuracy %.3f\n", single_speed, accuracy(single, test));
  const double replicated_speed = train(replicated, training, all, epochs);
  std::printf("%lld replicas:   %6.0f images/s, test accuracy %.3f\n", static_cast<long long>(replicas),
              replicated_speed, accuracy(replicated, test));
  if (!settings.device.is_cuda())
    std::puts("(On a CPU one network also uses all cores, so replicas are not faster.)");

  double difference = 0;
  const std::vector<Tensor> one = single->parameters(), many = replicated->parameters();
  for (std::size_t i = 0; i < one.size(); ++i)
    difference = std::max(difference, (one[i] - many[i]).abs().max().item<double>());
  return example::at_most("largest difference of a parameter", difference, 1e-9) |
         example::at_least("test accuracy", accuracy(replicated, test), settings.brief ? 0.9 : 0.93);
}

}  // namespace

int main(int argc, char** argv) {
  example::Program program("Trains replicas of a network on several devices or threads.");
  std::int64_t replicas = 4, epochs = 0;
  program.option("--replicas", replicas, "number of replicas, on the GPUs in turn or in threads of the CPU");
  program.option("--epochs", epochs, "passes over the digits (default: 40, with --short 15)");
  return program.run(argc, argv,
                     [&](const example::Settings& settings) { return run(settings, replicas, epochs); });
}
