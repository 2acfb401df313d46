// Layers and losses, forward and backward, and optimizer steps: milliseconds each.
#include "bench.h"

#include <vector>

namespace {

using torch::Tensor;
namespace nn = torch::nn;
namespace F = torch::nn::functional;

// Times forward(), the sum of its result, and the gradients of `inputs`.
template <class Forward>
void measure(benchmark::State& state, const std::vector<Tensor>& inputs, const bench::Work& work,
             Forward&& forward) {
  bench::measure(
      state, 1, "ms",
      [&] {
        for (Tensor input : inputs) input.mutable_grad() = Tensor();
        forward().sum().backward();
      },
      work);
}

constexpr double kPixels = 16 * 32 * 32;

Tensor image() { return torch::randn({16, 64, 32, 32}).requires_grad_(); }

// Returns the traffic of `count` arrays of the size of image(), forward and backward together.
bench::Work images(double count) { return bench::bytes(4 * 64 * kPixels * count); }

// Returns the operations of a convolution forward and for both gradients, with `places` output positions and
// `each` products per position.
bench::Work products(double places, double each) { return bench::flops(3 * 2 * places * each); }

// Adds a layer of images.
template <class Layer>
void add_layer(const std::string& name, const bench::Work& work, Layer layer) {
  bench::add("layers." + name, [=](benchmark::State& state) mutable {
    const Tensor x = image();
    std::vector<Tensor> inputs = layer->parameters();
    inputs.push_back(x);
    measure(state, inputs, work, [&] { return layer->forward(x); });
  });
}

template <class Call>
void add_function(const std::string& name, const bench::Work& work, Call call) {
  bench::add("layers." + name, [=](benchmark::State& state) {
    const Tensor x = image();
    measure(state, {x}, work, [&] { return call(x); });
  });
}

// Returns the traffic of `count` arrays of [256, 1000].
bench::Work rows(double count) { return bench::bytes(4 * 256e3 * count); }

template <class Call>
void add_loss(const std::string& name, const bench::Work& work, Call call) {
  bench::add("layers." + name, [=](benchmark::State& state) {
    const Tensor x = torch::randn({256, 1000}).requires_grad_(), y = torch::rand({256, 1000});
    const Tensor classes = torch::randint(1000, {256}, torch::kLong);
    measure(state, {x}, work, [&] { return call(x, y, classes); });
  });
}

// Returns the operations of two layers of 256 units over 35 steps of 20 sequences. The input of the first
// layer needs no gradient.
bench::Work recurrent(double gates) {
  return bench::flops(35 * 2.0 * 20 * gates * 256 * (2 * 3 * 2 * 256 - 256));
}

template <class Layer>
void add_recurrent(const std::string& name, const bench::Work& work, Layer layer,
                   std::vector<int64_t> shape) {
  bench::add("layers." + name, [=](benchmark::State& state) mutable {
    const Tensor x = torch::randn(shape);
    measure(state, layer->parameters(), work, [&] { return std::get<0>(layer->forward(x)); });
  });
}

// Adds an optimizer step over ten million floats, which reads and writes `arrays` arrays of this size.
template <class Optimizer, class Options>
void add_optimizer(const std::string& name, double arrays, Options options) {
  bench::add("layers." + name, [=](benchmark::State& state) {
    std::vector<Tensor> parameters;
    for (int i = 0; i < 10; ++i) {
      parameters.push_back(torch::randn({1000, 1000}).requires_grad_());
      parameters.back().mutable_grad() = torch::randn({1000, 1000});
    }
    Optimizer optimizer(parameters, options);
    bench::measure(state, 1, "ms", [&] { optimizer.step(); }, bench::bytes(4e7 * arrays));
  });
}

void add_layers() {
  add_layer("conv3x3", products(kPixels, 64 * 64 * 9), nn::Conv2d(nn::Conv2dOptions(64, 64, 3).padding(1)));
  add_layer("conv3x3.stride2", products(kPixels / 4, 64 * 128 * 9),
            nn::Conv2d(nn::Conv2dOptions(64, 128, 3).stride(2).padding(1)));
  add_layer("conv1x1", products(kPixels, 64 * 64), nn::Conv2d(nn::Conv2dOptions(64, 64, 1)));
  add_layer("conv.depthwise", images(5), nn::Conv2d(nn::Conv2dOptions(64, 64, 3).padding(1).groups(64)));
  add_layer("conv_transpose", products(kPixels, 64 * 32 * 4),
            nn::ConvTranspose2d(nn::ConvTranspose2dOptions(64, 32, 2).stride(2)));
  bench::add("layers.conv_transpose.wide", [](benchmark::State& state) {
    const Tensor x = torch::randn({64, 100, 1, 1}).requires_grad_();
    const Tensor weight = torch::randn({100, 64, 4, 4}).requires_grad_();
    measure(state, {x, weight}, products(64, 100 * 64 * 16),
            [&] { return torch::conv_transpose2d(x, weight); });
  });
  add_layer("batch_norm", images(5), nn::BatchNorm2d(64));
  add_function("batch_norm.rows", images(5), [](const Tensor& x) {
    return torch::batch_norm(x.view({-1, 16}), {}, {}, {}, {}, true, 0.1, 1e-5, false);
  });
  add_layer("group_norm", images(5), nn::GroupNorm(nn::GroupNormOptions(8, 64)));
  add_layer("max_pool", images(2.5), nn::MaxPool2d(nn::MaxPool2dOptions(3).stride(2).padding(1)));
  add_layer("avg_pool", images(2.5), nn::AvgPool2d(2));
  const auto twice = F::InterpolateFuncOptions().scale_factor(std::vector<double>{2, 2});
  add_function("upsample.nearest", images(10), [=](const Tensor& x) {
    return F::interpolate(x, F::InterpolateFuncOptions(twice).mode(torch::kNearest));
  });
  add_function("upsample.bilinear", images(10), [=](const Tensor& x) {
    return F::interpolate(x, F::InterpolateFuncOptions(twice).mode(torch::kBilinear).align_corners(false));
  });
  add_function("pad.reflect", images(4.3), [](const Tensor& x) {
    return F::pad(x, F::PadFuncOptions({1, 1, 1, 1}).mode(torch::kReflect));
  });
}

void add_losses() {
  add_loss("cross_entropy", rows(2), [](const Tensor& x, const Tensor&, const Tensor& classes) {
    return F::cross_entropy(x, classes);
  });
  add_loss("bce_with_logits", rows(3), [](const Tensor& x, const Tensor& y, const Tensor&) {
    return F::binary_cross_entropy_with_logits(x, y);
  });
  add_loss("mse", rows(3), [](const Tensor& x, const Tensor& y, const Tensor&) { return F::mse_loss(x, y); });
  add_loss("layer_norm", rows(5), [](const Tensor& x, const Tensor&, const Tensor&) {
    return F::layer_norm(x, F::LayerNormFuncOptions({1000}));
  });
  add_loss("log_softmax", rows(4),
           [](const Tensor& x, const Tensor&, const Tensor&) { return x.log_softmax(1); });
}

void add_sequences() {
  add_recurrent("lstm", recurrent(4), nn::LSTM(nn::LSTMOptions(256, 256).num_layers(2)), {35, 20, 256});
  add_recurrent("gru", recurrent(3), nn::GRU(nn::GRUOptions(256, 256).num_layers(2)), {35, 20, 256});
  bench::add("layers.transformer", [](benchmark::State& state) {
    nn::TransformerEncoderLayer layer(
        nn::TransformerEncoderLayerOptions(256, 8).dim_feedforward(1024).dropout(0));
    const Tensor x = torch::randn({64, 8, 256});
    // For each of 512 positions: four matrices of 256 x 256, two of 256 x 1024, and attention over 64 steps.
    const double products = 4 * 256 * 256 + 2 * 256 * 1024 + 2 * 64 * 256, inputs = 3 * 256 * 256;
    measure(state, layer->parameters(), bench::flops(512 * 2.0 * (3 * products - inputs)),
            [&] { return layer->forward(x); });
  });
  bench::add("layers.embedding", [](benchmark::State& state) {
    nn::Embedding layer(30000, 256);
    const Tensor words = torch::randint(30000, {64, 128}, torch::kLong);
    // Forward reads and writes 64 x 128 rows, and the sum reads them. Backward zeroes a gradient of the
    // table's size, and adds 64 x 128 rows to it.
    measure(state, layer->parameters(), bench::bytes(4 * 256.0 * (4 * 64 * 128 + 30000)),
            [&] { return layer->forward(words); });
  });
  bench::add("layers.embedding_bag", [](benchmark::State& state) {
    nn::EmbeddingBag layer(nn::EmbeddingBagOptions(30000, 64).mode(torch::kMean));
    const Tensor words = torch::randint(30000, {8192}, torch::kLong);
    const Tensor starts = torch::arange(0, 8192, 16, torch::kLong);
    measure(state, layer->parameters(), bench::bytes(4 * 64.0 * (2 * 8192 + 30000)),
            [&] { return layer->forward(words, starts); });
  });
}

}  // namespace

int main(int argc, char** argv) {
  torch::manual_seed(1);
  add_layers();
  add_losses();
  add_sequences();
  add_optimizer<torch::optim::SGD>("sgd.momentum", 5, torch::optim::SGDOptions(1e-3).momentum(0.9));
  add_optimizer<torch::optim::AdamW>("adamw", 7, torch::optim::AdamWOptions(1e-3));
  add_optimizer<torch::optim::RMSprop>("rmsprop", 5, torch::optim::RMSpropOptions(1e-3));
  return bench::run(argc, argv);
}
