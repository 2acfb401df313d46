// Functions that the build of the tests emits as sources, and that the tests compare with these sources.
#pragma once

#include <ebb/ebb.h>

#include <tuple>
#include <vector>

namespace functions {

using namespace ebb;
namespace F = nn::functional;

struct Mlp {
  nn::Sequential net{nullptr};

  Mlp() {
    manual_seed(11);
    net = nn::Sequential(nn::Linear(20, 32), nn::ReLU(), nn::Linear(32, 24), nn::Tanh(), nn::Linear(24, 5),
                         nn::Softmax(1));
  }
  static std::tuple<Tensor> inputs() { return {randn({7, 20})}; }
  Tensor operator()(const Tensor& x) {
    const NoGradGuard no_grad;
    return net(x);
  }
};

/// Convolutions with strides, groups and padding, batch norm with running statistics, and both poolings.
struct Cnn {
  nn::Sequential net{nullptr};

  Cnn() {
    manual_seed(12);
    net = nn::Sequential(nn::Conv2d(nn::Conv2dOptions(3, 8, 3).padding(1).bias(false)), nn::BatchNorm2d(8),
                         nn::ReLU(), nn::MaxPool2d(2),
                         nn::Conv2d(nn::Conv2dOptions(8, 16, 3).stride(2).padding(1).groups(4)),
                         nn::LeakyReLU(0.1), nn::AvgPool2d(2), nn::Flatten(), nn::Linear(64, 10));
    for (int i = 0; i < 3; ++i) net(randn({4, 3, 16, 16}));
    net->eval();
  }
  static std::tuple<Tensor> inputs() { return {randn({2, 3, 16, 16})}; }
  Tensor operator()(const Tensor& x) {
    const NoGradGuard no_grad;
    return F::log_softmax(net(x), 1);
  }
};

struct Transformer {
  nn::TransformerEncoderLayer layer{nullptr};

  Transformer() {
    manual_seed(13);
    layer = nn::TransformerEncoderLayer(
        nn::TransformerEncoderLayerOptions(24, 3).dim_feedforward(40).dropout(0.1).activation(kGELU));
    layer->eval();
  }
  static std::tuple<Tensor> inputs() { return {randn({6, 2, 24})}; }
  Tensor operator()(const Tensor& x) {
    const NoGradGuard no_grad;
    return layer(x);
  }
};

/// A function with two results and two arguments, one of which is a non-contiguous part of a larger tensor.
struct Pair {
  static std::tuple<Tensor, Tensor> inputs() {
    return {randn({7, 4}).slice(0, 2).t(), randn({4, 5}, kDouble)};
  }
  std::tuple<Tensor, Tensor> operator()(const Tensor& a, const Tensor& b) {
    return {(a * 0.25 + b).matmul(b.t()), a.softmax(0).sum({1}, true)};
  }
};

/// The output u of a network and its second derivative.
struct Curvature {
  nn::Sequential net{nullptr};

  Curvature() {
    manual_seed(14);
    net =
        nn::Sequential(nn::Linear(1, 16), nn::Tanh(), nn::Linear(16, 16), nn::Softplus(), nn::Linear(16, 1));
  }
  static std::tuple<Tensor> inputs() { return {rand({9, 1})}; }
  std::tuple<Tensor, Tensor> operator()(const Tensor& at) {
    const Tensor x = at.detach().requires_grad_();
    const Tensor u = net(x);
    const Tensor slope = autograd::grad({u.sum()}, {x}, {}, true, true)[0];
    return {u.detach(), autograd::grad({slope.sum()}, {x})[0]};
  }
};

/// A loss and its gradients. A replay fuses many of their calls.
struct Gradients {
  nn::Sequential net{nullptr};

  Gradients() {
    manual_seed(17);
    net = nn::Sequential(nn::Linear(40, 64), nn::Tanh(), nn::Linear(64, 32), nn::GELU(), nn::Linear(32, 4));
  }
  static std::tuple<Tensor, Tensor> inputs() { return {randn({512, 40}), randint(4, {512}, kLong)}; }
  std::tuple<Tensor, Tensor> operator()(const Tensor& x, const Tensor& y) {
    const Tensor out = net(x), loss = F::cross_entropy(out, y) + out.square().mean() * 0.01;
    std::vector<Tensor> all;
    for (const Tensor& each : autograd::grad({loss}, net->parameters())) all.push_back(each.flatten());
    return {loss.detach(), cat(all)};
  }
};

/// A function with a captured state and an argument that it writes to, large and small constants, indices,
/// and numbers of several types.
struct Mixed {
  nn::Embedding table{nullptr};
  Tensor state, scale;

  Mixed() {
    manual_seed(15);
    table = nn::Embedding(10, 6);
    state = zeros({6});
    scale = tensor(0.75);
  }
  static std::tuple<std::vector<Tensor>, double> inputs() {
    return {{randint(10, {4, 3}, kLong), randn({6})}, 0.5};
  }
  std::vector<Tensor> operator()(const std::vector<Tensor>& x, double rate) {
    const NoGradGuard no_grad;
    const Tensor rows =
        table(x[0]) * scale + arange(72, kFloat).view({4, 3, 6}) * tensor({1.0F, -0.0F}).sum();
    x[1].mul_(2).clamp_(-1.5, 1.5);
    state.mul_(rate).add_(x[1]);
    const Tensor sums = tensor({1.0F, 2.0F}).add_(x[1].sum());
    return {F::softshrink(rows, 0.25), state, sums, x[1], std::get<0>(rows.flatten().topk(3, 0)),
            x[0].eq(3).any()};
  }
};

/// A function without results that writes to one of two arguments.
struct Adds {
  static std::tuple<Tensor, Tensor> inputs() { return {randn({3}), randn({3})}; }
  void operator()(const Tensor& a, const Tensor& b) { a.add_(b); }
};

/// A function with arguments and a result that are parts of the same memory.
struct Shared {
  static std::tuple<Tensor, Tensor> inputs() {
    const Tensor all = randn({12});
    return {all.slice(0, 3, 7), all.slice(0, 5, 9)};
  }
  std::tuple<Tensor, Tensor> operator()(const Tensor& a, const Tensor& b) {
    a.mul_(2);
    return {a - b, b[1]};
  }
};

/// Recurrent layers, losses and windows, whose kernels take structs of lists.
struct Recurrent {
  nn::LSTM lstm{nullptr};

  Recurrent() {
    manual_seed(16);
    lstm = nn::LSTM(nn::LSTMOptions(3, 8).num_layers(2).bidirectional(true));
    lstm->eval();
  }
  static std::tuple<Tensor, Tensor> inputs() { return {randn({5, 2, 3}), randn({5, 2, 16})}; }
  std::tuple<Tensor, Tensor> operator()(const Tensor& x, const Tensor& y) {
    const NoGradGuard no_grad;
    const Tensor out = std::get<0>(lstm(x));
    const Tensor wide = F::interpolate(out, F::InterpolateFuncOptions().scale_factor({{2.0}}).mode(kLinear));
    return {wide, F::huber_loss(out, y, F::HuberLossFuncOptions().delta(0.7))};
  }
};

}  // namespace functions
