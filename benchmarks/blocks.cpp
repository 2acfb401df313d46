// Training steps of blocks of convolutional networks in both layouts, and of ResNet-18 on images of CIFAR.
#include "bench.h"
#include "layout.h"

#include <vector>

namespace {

using torch::Tensor;
namespace nn = torch::nn;
namespace F = torch::nn::functional;

nn::Conv2d conv(int64_t in, int64_t out, int64_t kernel, int64_t stride = 1, int64_t groups = 1) {
  return nn::Conv2d(
      nn::Conv2dOptions(in, out, kernel).stride(stride).padding(kernel / 2).groups(groups).bias(false));
}

// The basic block of ResNet-18.
struct ResidualImpl : nn::Module {
  ResidualImpl(int64_t in, int64_t out, int64_t stride) {
    body = register_module("body", nn::Sequential(conv(in, out, 3, stride), nn::BatchNorm2d(out), nn::ReLU(),
                                                  conv(out, out, 3), nn::BatchNorm2d(out)));
    if (in != out)
      shortcut = register_module("shortcut", nn::Sequential(conv(in, out, 1, stride), nn::BatchNorm2d(out)));
  }
  Tensor forward(const Tensor& x) {
    return torch::relu(body->forward(x) + (shortcut ? shortcut->forward(x) : x));
  }
  nn::Sequential body{nullptr}, shortcut{nullptr};
};
TORCH_MODULE(Residual);

// The block of ConvNeXt: a depthwise layer of 7 x 7, and an MLP over the channels, which are last there.
struct ConvNeXtImpl : nn::Module {
  explicit ConvNeXtImpl(int64_t width) {
    depthwise = register_module("depthwise", conv(width, width, 7, 1, width));
    norm = register_module("norm", nn::LayerNorm(nn::LayerNormOptions({width}).eps(1e-6)));
    wide = register_module("wide", nn::Linear(width, 4 * width));
    narrow = register_module("narrow", nn::Linear(4 * width, width));
    scale = register_parameter("scale", torch::full({width}, 1e-6));
  }
  Tensor forward(const Tensor& x) {
    const Tensor y = norm->forward(depthwise->forward(x).permute({0, 2, 3, 1}));
    return x + (scale * narrow->forward(torch::gelu(wide->forward(y)))).permute({0, 3, 1, 2});
  }
  nn::Conv2d depthwise{nullptr};
  nn::LayerNorm norm{nullptr};
  nn::Linear wide{nullptr}, narrow{nullptr};
  Tensor scale;
};
TORCH_MODULE(ConvNeXt);

// The inverted residual of MobileNetV2, six times as wide inside.
struct MobileImpl : nn::Module {
  explicit MobileImpl(int64_t narrow) {
    const int64_t wide = 6 * narrow;
    body =
        register_module("body", nn::Sequential(conv(narrow, wide, 1), nn::BatchNorm2d(wide), nn::ReLU6(),
                                               conv(wide, wide, 3, 1, wide), nn::BatchNorm2d(wide),
                                               nn::ReLU6(), conv(wide, narrow, 1), nn::BatchNorm2d(narrow)));
  }
  Tensor forward(const Tensor& x) { return x + body->forward(x); }
  nn::Sequential body{nullptr};
};
TORCH_MODULE(Mobile);

// ResNet-18 for images of 32 x 32: the first layer is of 3 x 3, and there is no pooling after it.
nn::Sequential resnet18() {
  nn::Sequential net(conv(3, 64, 3), nn::BatchNorm2d(64), nn::ReLU());
  int64_t in = 64;
  for (const int64_t out : {64, 128, 256, 512}) {
    net->push_back(Residual(in, out, in == out ? 1 : 2));
    net->push_back(Residual(out, out, 1));
    in = out;
  }
  net->push_back(nn::AdaptiveAvgPool2d(nn::AdaptiveAvgPool2dOptions(1)));
  net->push_back(nn::Flatten());
  net->push_back(nn::Linear(512, 10));
  return net;
}

// Adds a training step of a block in the middle of a network, in both layouts, with the gradient of its
// input. `products` is the number of products of the forward pass at each of the output's positions.
template <class Make>
void add_block(const std::string& name, std::vector<int64_t> shape, double products, Make make) {
  for (const bool channels_last : {false, true})
    bench::add("blocks." + name + (channels_last ? ".channels_last" : ""), [=](benchmark::State& state) {
      torch::manual_seed(1);
      auto block = make();
      const auto in_layout = [=](const Tensor& images) {
        return channels_last ? bench::channels_last(images) : images;
      };
      if (channels_last) bench::make_channels_last(*block);
      const Tensor x = in_layout(torch::randn(shape)).requires_grad_();
      const Tensor seed = in_layout(torch::randn_like(block->forward(x).detach()));
      torch::optim::SGD optimizer(block->parameters(), torch::optim::SGDOptions(1e-3).momentum(0.9));
      const double positions = static_cast<double>(seed.numel() / seed.size(1));
      bench::measure(
          state, 1, "ms/step",
          [&] {
            optimizer.zero_grad();
            x.mutable_grad() = Tensor();
            block->forward(x).backward(seed);
            optimizer.step();
          },
          bench::flops(3 * 2 * positions * products));
    });
}

void train_resnet18(benchmark::State& state) {
  torch::manual_seed(1);
  nn::Sequential net = resnet18();
  torch::optim::SGD optimizer(net->parameters(),
                              torch::optim::SGDOptions(0.1).momentum(0.9).weight_decay(5e-4));
  const Tensor images = torch::rand({16, 3, 32, 32}), labels = torch::arange(16).remainder(10);
  const double products = 555.4e6;  // for an image, of which 1.8e6 are in the first layer
  bench::measure(
      state, 1, "ms/step",
      [&] {
        optimizer.zero_grad();
        F::cross_entropy(net->forward(images), labels).backward();
        optimizer.step();
      },
      bench::flops(3 * 2 * 16 * products));
}

}  // namespace

int main(int argc, char** argv) {
  add_block("resnet.64.32x32", {16, 64, 32, 32}, 2.0 * 64 * 64 * 9, [] { return Residual(64, 64, 1); });
  add_block("resnet.stride2.28x28", {8, 128, 28, 28}, 9.0 * 256 * (128 + 256) + 128 * 256,
            [] { return Residual(128, 256, 2); });
  add_block("convnext.96.28x28", {8, 96, 28, 28}, 96.0 * (49 + 8 * 96), [] { return ConvNeXt(96); });
  add_block("mobilenet_v2.32.28x28", {8, 32, 28, 28}, 192.0 * (2 * 32 + 9), [] { return Mobile(32); });
  bench::add("blocks.resnet18.train.16", train_resnet18);
  return bench::run(argc, argv);
}
