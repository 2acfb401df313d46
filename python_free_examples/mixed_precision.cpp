// Mixed precision: the same training in Float, in TF32, and with autocast in BFloat16 and Half.
//
// Trained on the 1,797 handwritten digits of this repository. Autocast computes matrix products and
// convolutions in 16 bits. Expected: the accuracy differs from the accuracy in Float by at most 2 points
// (half a point was reached), in 8 s on two cores. The memory for backward is 0.6 times the memory in Float.
// The short form takes 3 s.
#include <ebb/watch.h>

#include "common/images.h"
#include "common/program.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

namespace {

namespace nn = ebb::nn;
namespace watch = ebb::watch;
using ebb::Tensor;
using ebb::data::datasets::MNIST;

struct Precision {
  const char* name;
  bool tf32 = false;
  ebb::optional<ebb::DType> cast = {};  // the dtype of products and convolutions under autocast
};

struct Result {
  std::vector<double> losses;  // one per step
  double accuracy = 0;
  double saved_megabytes = 0;  // the memory that forward allocates for backward
};

nn::Sequential network() {
  const auto conv = [](std::int64_t in, std::int64_t out) {
    return nn::Conv2d(nn::Conv2dOptions(in, out, 3).padding(1));
  };
  return nn::Sequential(conv(1, 32), nn::ReLU(), conv(32, 32), nn::ReLU(), nn::MaxPool2d(2), nn::Flatten(),
                        nn::Linear(32 * 4 * 4, 128), nn::ReLU(), nn::Linear(128, 10));
}

std::size_t allocated_bytes(ebb::Device device) {
  return (device.is_cuda() ? ebb::cuda::memory_stats(device.index()) : ebb::memory_stats()).current;
}

Tensor logits_of(nn::Sequential& net, const Tensor& images, const Precision& precision) {
  const ebb::amp::autocast casting(images.device().type(), precision.cast, precision.cast.has_value());
  return net->forward(images);
}

Result train(const Precision& precision, const example::Settings& settings, std::int64_t epochs) {
  constexpr std::int64_t kBatch = 128;
  const ebb::Device device = settings.device;
  const MNIST digits(example::kDigits), test(example::kDigits, MNIST::Mode::kTest);
  const Tensor images = digits.images().to(device), labels = digits.targets().to(device);
  ebb::manual_seed(settings.seed);  // the same initial weights and order of images in each training
  nn::Sequential net = network();
  net->to(device);
  ebb::optim::Adam optimizer(net->parameters(), ebb::optim::AdamOptions(1e-3));
  // Small gradients underflow in Half, so the loss is scaled. BFloat16 has the range of Float and needs no
  // scaling.
  ebb::amp::GradScaler scaler(device.type(),
                              ebb::amp::GradScalerOptions().enabled(precision.cast == ebb::kHalf));
  ebb::cuda::allow_tf32(precision.tf32);

  Result result;
  watch::Progress bar(precision.name, {epochs * labels.size(0), "images"});
  for (std::int64_t epoch = 0; epoch < epochs; ++epoch)
    for (const Tensor& rows : ebb::randperm(labels.size(0)).to(device).split(kBatch)) {
      const Tensor x = images.index_select(0, rows), y = labels.index_select(0, rows);
      optimizer.zero_grad(true);
      const std::size_t before = allocated_bytes(device);
      const Tensor loss = nn::functional::cross_entropy(logits_of(net, x, precision), y);
      result.saved_megabytes =
          std::max(result.saved_megabytes, static_cast<double>(allocated_bytes(device) - before) / 1e6);
      scaler.scale(loss).backward();
      scaler.step(optimizer);
      scaler.update();
      result.losses.push_back(loss.item<double>());
      settings.report().add_scalars("loss", {{precision.name, result.losses.back()}},
                                    std::ssize(result.losses));
      bar.average("loss", result.losses.back()).advance(rows.size(0));
    }
  ebb::cuda::allow_tf32(false);
  const ebb::NoGradGuard no_grad;
  watch::Classification tested(10);
  tested.update(logits_of(net, test.images().to(device), precision), test.targets().to(device));
  result.accuracy = tested.accuracy();
  return result;
}

int run(const example::Settings& settings, std::int64_t epochs) {
  if (!epochs) epochs = settings.brief ? 10 : 30;
  const std::vector<Precision> precisions = {
      {"Float"}, {"TF32", true}, {"BFloat16", false, ebb::kBFloat16}, {"Half, scaled", false, ebb::kHalf}};
  watch::Figure chart("One training in four precisions", "step", "loss");
  std::puts("precision      last loss   accuracy   MB saved for backward");
  double in_float = 0, furthest = 0;
  for (const Precision& precision : precisions) {
    if (precision.tf32 && !settings.device.is_cuda()) {
      std::printf("%-12s   needs the tensor cores of an NVIDIA GPU\n", precision.name);
      continue;
    }
    const Result result = train(precision, settings, epochs);
    std::printf("%-12s   %9.4f   %8.3f   %21.2f\n", precision.name, result.losses.back(), result.accuracy,
                result.saved_megabytes);
    chart.line(precision.name, result.losses);
    if (&precision == &precisions.front()) in_float = result.accuracy;
    furthest = std::max(furthest, std::abs(result.accuracy - in_float));
  }
  settings.draw("mixed_precision.svg", chart.logarithmic_y());
  return example::at_least("accuracy in Float", in_float, settings.brief ? 0.9 : 0.94) |
         example::at_most("largest difference of accuracy from Float", furthest, 0.02);
}

}  // namespace

int main(int argc, char** argv) {
  example::Program program("Trains the same network in Float, TF32, BFloat16 and Half.");
  std::int64_t epochs = 0;
  program.option("--epochs", epochs, "passes over the digits (default: 30, with --short 10)");
  return program.run(argc, argv, [&](const example::Settings& settings) { return run(settings, epochs); });
}
