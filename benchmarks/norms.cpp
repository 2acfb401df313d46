// Layer, batch and group normalization with odd numbers of channels, forward and backward: microseconds.
#include "bench.h"

#include <vector>

namespace {

using torch::Tensor;
namespace nn = torch::nn;

// Each input has about this number of elements.
constexpr int64_t kElements = 1 << 18;

// Adds a layer with the gradients of its input and its parameters. A training pass reads or writes five
// arrays of the size of the input.
template <class Make>
void add(const std::string& name, int64_t channels, std::vector<int64_t> shape, Make make) {
  bench::add("norms." + name + "." + std::to_string(channels), [=](benchmark::State& state) {
    torch::manual_seed(1);
    auto layer = make();
    const Tensor x = torch::randn(shape).requires_grad_(), seed = torch::randn(shape);
    bench::measure(
        state, 1, "us",
        [&] {
          layer->zero_grad();
          x.mutable_grad() = Tensor();
          layer->forward(x).backward(seed);
        },
        bench::bytes(5.0 * 4 * static_cast<double>(x.numel())));
  });
}

struct Size {
  int64_t channels, groups;
};

}  // namespace

int main(int argc, char** argv) {
  for (const Size size : {Size{7, 7}, Size{33, 3}, Size{127, 1}, Size{1000, 8}}) {
    const int64_t channels = size.channels, rows = kElements / channels;
    // The batch of the images has at least one image of 16 x 16.
    const std::vector<int64_t> images = {std::max<int64_t>(1, rows / 256), channels, 16, 16};
    add("layer", channels, {rows, channels}, [=] { return nn::LayerNorm(nn::LayerNormOptions({channels})); });
    add("batch.rows", channels, {rows, channels}, [=] { return nn::BatchNorm1d(channels); });
    add("batch.images", channels, images, [=] { return nn::BatchNorm2d(channels); });
    add("group.images", channels, images,
        [=] { return nn::GroupNorm(nn::GroupNormOptions(size.groups, channels)); });
  }
  return bench::run(argc, argv);
}
