// One training in four precisions: Float, TF32, and BFloat16 and Half where autocast thinks that they
// suffice.
#include <ebb/ebb.h>

#include "common/chart.h"
#include "common/images.h"
#include "common/interrupt.h"
#include "common/program.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <vector>

namespace {

namespace nn = ebb::nn;
using ebb::Tensor;
using ebb::data::datasets::MNIST;

struct Precision {
  const char* name;
  bool tf32 = false;
  ebb::optional<ebb::DType> cast = {};  // what products and convolutions compute in
};

struct Result {
  std::vector<double> losses;  // a step each
  double accuracy = 0, seconds = 0;
  double kept = 0;  // MB that wait for backward
};

nn::Sequential network() {
  const auto conv = [](std::int64_t in, std::int64_t out) {
    return nn::Conv2d(nn::Conv2dOptions(in, out, 3).padding(1));
  };
  return nn::Sequential(conv(1, 32), nn::ReLU(), conv(32, 32), nn::ReLU(), nn::MaxPool2d(2), nn::Flatten(),
                        nn::Linear(32 * 4 * 4, 128), nn::ReLU(), nn::Linear(128, 10));
}

std::size_t bytes_held(ebb::Device device) {
  return (device.is_cuda() ? ebb::cuda::memory_stats(device.index()) : ebb::memory_stats()).current;
}

Tensor logits_of(nn::Sequential& net, const Tensor& images, const Precision& precision) {
  const ebb::amp::autocast casting(images.device().type(), precision.cast, precision.cast.has_value());
  return net->forward(images);
}

Result train(const Precision& precision, const example::Settings& settings, std::int64_t epochs) {
  constexpr std::int64_t kBatch = 128;
  const ebb::Device device = settings.device;
  const MNIST digits(example::kDigits), asked(example::kDigits, MNIST::Mode::kTest);
  const Tensor images = digits.images().to(device), labels = digits.targets().to(device);
  ebb::manual_seed(settings.seed);  // the same weights and the same order for all
  nn::Sequential net = network();
  net->to(device);
  ebb::optim::Adam optimizer(net->parameters(), ebb::optim::AdamOptions(1e-3));
  // Small gradients vanish in Half, unless the loss is multiplied first; BFloat16 has Float's range.
  ebb::amp::GradScaler scaler(device.type(),
                              ebb::amp::GradScalerOptions().enabled(precision.cast == ebb::kHalf));
  ebb::cuda::allow_tf32(precision.tf32);

  Result result;
  const auto start = std::chrono::steady_clock::now();
  for (std::int64_t epoch = 0; epoch < epochs; ++epoch)
    for (const Tensor& rows : ebb::randperm(labels.size(0)).to(device).split(kBatch)) {
      example::stop_if_interrupted();
      const Tensor x = images.index_select(0, rows), y = labels.index_select(0, rows);
      optimizer.zero_grad(true);
      const std::size_t before = bytes_held(device);
      const Tensor loss = nn::functional::cross_entropy(logits_of(net, x, precision), y);
      result.kept = std::max(result.kept, static_cast<double>(bytes_held(device) - before) / 1e6);
      scaler.scale(loss).backward();
      scaler.step(optimizer);
      scaler.update();
      result.losses.push_back(loss.item<double>());
    }
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
  result.seconds = passed.count();
  ebb::cuda::allow_tf32(false);
  const ebb::NoGradGuard no_grad;
  const Tensor found = logits_of(net, asked.images().to(device), precision).argmax(1).cpu();
  result.accuracy = (found == asked.targets()).to(ebb::kDouble).mean().item<double>();
  return result;
}

int run(const example::Settings& settings, std::int64_t epochs) {
  if (!epochs) epochs = settings.brief ? 10 : 30;
  const std::vector<Precision> precisions = {
      {"Float"}, {"TF32", true}, {"BFloat16", false, ebb::kBFloat16}, {"Half, scaled", false, ebb::kHalf}};
  example::Chart chart("One training in four precisions", "step", "loss");
  chart.logarithmic();
  std::puts("precision      last loss   accuracy   seconds   MB kept for backward");
  double in_float = 0, furthest = 0;
  for (const Precision& precision : precisions) {
    if (precision.tf32 && !settings.device.is_cuda()) {
      std::printf("%-12s   is an arithmetic of NVIDIA's tensor cores: not on this device\n", precision.name);
      continue;
    }
    const Result result = train(precision, settings, epochs);
    std::printf("%-12s   %9.4f   %8.3f   %7.2f   %20.2f\n", precision.name, result.losses.back(),
                result.accuracy, result.seconds, result.kept);
    chart.line(precision.name, result.losses);
    if (&precision == &precisions.front()) in_float = result.accuracy;
    furthest = std::max(furthest, std::abs(result.accuracy - in_float));
  }
  chart.write(settings.path("mixed_precision.svg"));
  return example::at_least("accuracy in Float", in_float, settings.brief ? 0.9 : 0.94) |
         example::at_most("furthest from it in another precision", furthest, 0.02);
}

}  // namespace

int main(int argc, char** argv) {
  example::Program program("Trains the same network in Float, TF32, BFloat16 and Half.");
  std::int64_t epochs = 0;
  program.option("--epochs", epochs, "passes over the digits (default: 30, with --short 10)");
  return program.run(argc, argv, [&](const example::Settings& settings) { return run(settings, epochs); });
}
