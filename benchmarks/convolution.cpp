// Single layers of ResNet-18, ResNet-50 and VGG16: forward pass, gradient of the input, gradient of the
// weight.
#include "bench.h"

#include <cmath>

namespace {

struct Layer {
  int64_t batch, in, out, size, kernel, stride;
};

const Layer kLayers[] = {{8, 3, 64, 224, 7, 2},    {8, 64, 64, 56, 3, 1},   {8, 128, 128, 28, 3, 1},
                         {8, 256, 256, 14, 3, 1},  {8, 512, 512, 7, 3, 1},  {1, 512, 512, 14, 3, 1},
                         {8, 64, 128, 56, 3, 2},   {8, 256, 512, 14, 3, 2}, {8, 64, 256, 56, 1, 1},
                         {8, 1024, 256, 14, 1, 1}, {8, 256, 512, 56, 1, 2}, {1, 64, 64, 224, 3, 1}};

enum class Part { forward, input, weight };

// The number of operations, which is the same for each pass.
bench::Work work(const Layer& l) {
  const auto number = [](int64_t n) { return static_cast<double>(n); };
  const double places = number(l.batch) * std::pow(number((l.size - 1) / l.stride + 1), 2);
  return bench::flops(2 * places * number(l.in) * number(l.out) * number(l.kernel * l.kernel));
}

void run(benchmark::State& state, const Layer& l, Part part) {
  torch::manual_seed(1);
  const torch::Tensor x = torch::randn({l.batch, l.in, l.size, l.size}).requires_grad_(part == Part::input);
  const torch::Tensor w =
      torch::randn({l.out, l.in, l.kernel, l.kernel}).requires_grad_(part == Part::weight);
  const auto forward = [&] { return torch::conv2d(x, w, {}, l.stride, l.kernel / 2); };
  if (part == Part::forward) return bench::measure(state, 1, "ms", forward, work(l));
  const torch::Tensor y = forward(), seed = torch::ones_like(y), to = part == Part::input ? x : w;
  bench::measure(state, 1, "ms", [&] { torch::autograd::grad({y}, {to}, {seed}, true); }, work(l));
}

}  // namespace

int main(int argc, char** argv) {
  for (const Layer& l : kLayers) {
    const auto k = std::to_string(l.kernel), size = std::to_string(l.size);
    const std::string name = "convolution." + k + "x" + k + ".s" + std::to_string(l.stride) + "." +
                             std::to_string(l.in) + "." + std::to_string(l.out) + "." + size + "x" + size +
                             ".batch" + std::to_string(l.batch);
    bench::add(name + ".forward", [l](benchmark::State& state) { run(state, l, Part::forward); });
    bench::add(name + ".input", [l](benchmark::State& state) { run(state, l, Part::input); });
    bench::add(name + ".weight", [l](benchmark::State& state) { run(state, l, Part::weight); });
  }
  return bench::run(argc, argv);
}
