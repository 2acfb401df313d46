// Parts of well-known networks in training and evaluation: milliseconds per step or forward pass.
#include "bench.h"
#include "transformer.h"

#include <vector>

namespace {

using torch::Tensor;
namespace nn = torch::nn;
namespace F = torch::nn::functional;

nn::Conv2d conv(int64_t in, int64_t out, int64_t kernel, int64_t stride = 1, int64_t groups = 1) {
  return nn::Conv2d(nn::Conv2dOptions(in, out, kernel).stride(stride).padding(kernel / 2).groups(groups));
}

// A U-Net of two levels.
struct UNetImpl : nn::Module {
  UNetImpl() {
    const auto twice = [](int64_t in, int64_t out) {
      return nn::Sequential(conv(in, out, 3), nn::BatchNorm2d(out), nn::ReLU(), conv(out, out, 3),
                            nn::BatchNorm2d(out), nn::ReLU());
    };
    const auto up = [](int64_t in, int64_t out) {
      return nn::ConvTranspose2d(nn::ConvTranspose2dOptions(in, out, 2).stride(2));
    };
    top = register_module("top", twice(3, 32));
    middle = register_module("middle", twice(32, 64));
    bottom = register_module("bottom", twice(64, 128));
    to_middle = register_module("to_middle", up(128, 64));
    middle_up = register_module("middle_up", twice(128, 64));
    to_top = register_module("to_top", up(64, 32));
    top_up = register_module("top_up", twice(64, 32));
    last = register_module("last", conv(32, 1, 1));
  }
  Tensor forward(const Tensor& x) {
    const Tensor a = top->forward(x), b = middle->forward(torch::max_pool2d(a, 2));
    Tensor y = to_middle->forward(bottom->forward(torch::max_pool2d(b, 2)));
    y = to_top->forward(middle_up->forward(torch::cat({b, y}, 1)));
    return last->forward(top_up->forward(torch::cat({a, y}, 1)));
  }
  nn::Sequential top{nullptr}, middle{nullptr}, bottom{nullptr}, middle_up{nullptr}, top_up{nullptr};
  nn::ConvTranspose2d to_middle{nullptr}, to_top{nullptr};
  nn::Conv2d last{nullptr};
};
TORCH_MODULE(UNet);

// An inverted residual of MobileNetV3: a wide depthwise layer with squeeze and excitation.
struct InvertedImpl : nn::Module {
  InvertedImpl(int64_t narrow, int64_t wide) {
    const auto normalized = [](nn::Conv2d layer, int64_t channels) {
      return nn::Sequential(layer, nn::BatchNorm2d(channels));
    };
    expand = register_module("expand", normalized(conv(narrow, wide, 1), wide));
    depthwise = register_module("depthwise", normalized(conv(wide, wide, 5, 1, wide), wide));
    squeeze = register_module("squeeze", conv(wide, wide / 4, 1));
    excite = register_module("excite", conv(wide / 4, wide, 1));
    project = register_module("project", normalized(conv(wide, narrow, 1), narrow));
  }
  Tensor forward(const Tensor& x) {
    const Tensor y = torch::hardswish(depthwise->forward(torch::hardswish(expand->forward(x))));
    const Tensor pooled = torch::adaptive_avg_pool2d(y, {1, 1});
    const Tensor gate = torch::hardsigmoid(excite->forward(torch::relu(squeeze->forward(pooled))));
    return x + project->forward(y * gate);
  }
  nn::Sequential expand{nullptr}, depthwise{nullptr}, project{nullptr};
  nn::Conv2d squeeze{nullptr}, excite{nullptr};
};
TORCH_MODULE(Inverted);

nn::Sequential vgg16_features() {
  nn::Sequential layers;
  int64_t in = 3;
  for (const int64_t out : {64, 64, 0, 128, 128, 0, 256, 256, 256, 0, 512, 512, 512, 0, 512, 512, 512, 0}) {
    if (out == 0) {
      layers->push_back(nn::MaxPool2d(2));
      continue;
    }
    layers->push_back(conv(in, out, 3));
    layers->push_back(nn::ReLU());
    in = out;
  }
  return layers;
}

// Times a block forward and backward, with the gradient of its input. `flops` is the number of operations of
// the forward pass.
template <class Make>
void add_block(const std::string& name, std::vector<int64_t> shape, double flops, Make make) {
  bench::add("networks." + name, [=](benchmark::State& state) {
    torch::manual_seed(1);
    auto block = make();
    const Tensor x = torch::randn(shape).requires_grad_(), seed = torch::randn(shape);
    bench::measure(
        state, 1, "ms",
        [&] {
          block->zero_grad();
          x.mutable_grad() = Tensor();
          block->forward(x).backward(seed);
        },
        bench::flops(3 * flops));
  });
}

void unet_step(benchmark::State& state) {
  torch::manual_seed(1);
  UNet net;
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.01).momentum(0.9));
  const Tensor images = torch::rand({2, 3, 128, 128}), masks = torch::rand({2, 1, 128, 128}).round();
  // Products per pixel of each level. `middle` and `bottom` have a quarter and a sixteenth of the pixels of
  // `top`.
  const double first = 3 * 32 * 9, top = 32 * 32 * 9 + (64 * 32 + 32 * 32) * 9 + 32;
  const double middle = (32 * 64 + 64 * 64 + 128 * 64 + 64 * 64) * 9 + 64 * 32 * 4;
  const double bottom = (64 * 128 + 128 * 128) * 9 + 128 * 64 * 4;
  const double each = 3 * (top + middle / 4 + bottom / 16) + 2 * first;
  bench::measure(
      state, 1, "ms/step",
      [&] {
        optimizer.zero_grad();
        F::binary_cross_entropy_with_logits(net->forward(images), masks).backward();
        optimizer.step();
      },
      bench::flops(2 * each * 2 * 128 * 128));
}

void vgg16_forward(benchmark::State& state) {
  torch::manual_seed(1);
  nn::Sequential net = vgg16_features();
  const Tensor image = torch::rand({1, 3, 224, 224});
  const torch::NoGradGuard no_grad;
  const double first = 3 * 64 + 64 * 64, second = 64 * 128 + 128 * 128, third = 128 * 256 + 2 * 256 * 256,
               fourth = 256 * 512 + 2 * 512 * 512, fifth = 3 * 512 * 512;
  const double products = first + second / 4 + third / 16 + fourth / 64 + fifth / 256;
  bench::measure(state, 1, "ms", [&] { net->forward(image); }, bench::flops(2 * 9 * 224 * 224 * products));
}

// Times the evaluation of a network with batch normalization on 512 images, in batches of 64, without
// gradients.
void evaluation(benchmark::State& state) {
  torch::manual_seed(1);
  nn::Sequential net(conv(3, 32, 3), nn::BatchNorm2d(32), nn::ReLU(), nn::MaxPool2d(2), conv(32, 64, 3),
                     nn::BatchNorm2d(64), nn::ReLU(), nn::MaxPool2d(2), nn::Flatten(),
                     nn::Linear(64 * 8 * 8, 10));
  net->eval();
  const Tensor images = torch::rand({512, 3, 32, 32}), labels = torch::arange(512).remainder(10);
  const double products = 32 * 32 * 3 * 32 * 9 + 16 * 16 * 32 * 64 * 9 + 4096 * 10;
  bench::measure(
      state, 1, "ms",
      [&] {
        const torch::NoGradGuard no_grad;
        int64_t right = 0;
        for (int64_t at = 0; at < 512; at += 64) {
          const Tensor guess = net->forward(images.slice(0, at, at + 64)).argmax(1);
          right += guess.eq(labels.slice(0, at, at + 64)).sum().item<int64_t>();
        }
        benchmark::DoNotOptimize(right);
      },
      bench::flops(2 * 512 * products));
}

}  // namespace

int main(int argc, char** argv) {
  add_block(
      "gpt2_block.256x2", {2, 256, 768},
      bench::transformer_flops(512, 128, 768),  // 128 = 256 / 2: the causal mask removes half of the steps
      [] { return bench::Block(768, 12, true); });
  add_block("vit_block.197x4", {4, 197, 384}, bench::transformer_flops(788, 197, 384),
            [] { return bench::Block(384, 6, false); });
  add_block("mobilenet_v3_block.8", {8, 112, 14, 14}, 2 * 8 * 14 * 14 * (2.0 * 112 * 672 + 25 * 672),
            [] { return Inverted(112, 672); });
  bench::add("networks.unet.train.2", unet_step);
  bench::add("networks.vgg16.features.1", vgg16_forward);
  bench::add("networks.evaluation.512", evaluation);
  return bench::run(argc, argv);
}
