// Rows of activations, softmax-like functions, dropout and linear maps.
#include "nn/module_rows.h"

#include <cmath>

namespace modules {

namespace {

template <class F>
Formula each(F f) {
  return [f](In in, const Tensors&) -> variable_list {
    const Variable out = in[0].contiguous().clone();
    double* const data = out.data_ptr<double>();
    for (std::int64_t i = 0; i < out.numel(); ++i) data[i] = f(data[i]);
    return {out};
  };
}

Variable plain_softmax(const Variable& x, std::int64_t dim) {
  const Variable e = x.exp();
  return e / e.sum(dim, true);
}

template <class Holder, class F, class... Args>
void add(std::vector<Row>& rows, const std::string& name, F f, const Args&... args) {
  rows.push_back(row<Holder>(name, {wave({3, 7}, 0.2) * 3}, each(f), args...));
}

// Dropout draws in training and is the identity in evaluation.
template <class Holder>
void add_dropout(std::vector<Row>& rows, const std::string& name, const Sizes& sizes) {
  rows.push_back(
      row<Holder>(name, {wave(sizes)}, [](In in, const Tensors&) { return in; }, nn::DropoutOptions(0.4)));
  rows.back().draws = true;
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

}  // namespace

std::vector<Row> activation_rows() {
  std::vector<Row> rows;
  const auto clamp = [](double x, double low, double high) { return std::min(std::max(x, low), high); };
  add<nn::ELU>(rows, "ELU", [](double x) { return x > 0 ? x : 0.7 * std::expm1(x); }, nn::ELUOptions(0.7));
  add<nn::SELU>(rows, "SELU", [](double x) {
    return 1.0507009873554804934 * (x > 0 ? x : 1.6732632423543772848 * std::expm1(x));
  });
  add<nn::CELU>(
      rows, "CELU", [](double x) { return x > 0 ? x : 0.7 * std::expm1(x / 0.7); }, nn::CELUOptions(0.7));
  add<nn::Hardshrink>(
      rows, "Hardshrink", [](double x) { return std::abs(x) > 0.8 ? x : 0; }, nn::HardshrinkOptions(0.8));
  add<nn::Softshrink>(
      rows, "Softshrink", [](double x) { return x > 0.8    ? x - 0.8
                                                : x < -0.8 ? x + 0.8
                                                           : 0; },
      nn::SoftshrinkOptions(0.8));
  add<nn::Hardtanh>(
      rows, "Hardtanh", [=](double x) { return clamp(x, -0.4, 1.7); },
      nn::HardtanhOptions().min_val(-0.4).max_val(1.7));
  add<nn::LeakyReLU>(
      rows, "LeakyReLU", [](double x) { return x > 0 ? x : 0.3 * x; }, nn::LeakyReLUOptions(0.3));
  add<nn::ReLU>(rows, "ReLU", [](double x) { return x > 0 ? x : 0; });
  add<nn::ReLU6>(rows, "ReLU6", [=](double x) { return clamp(2 * x, 0, 12) / 2; });
  add<nn::RReLU>(
      rows, "RReLU", [](double x) { return x > 0 ? x : 0.35 * x; }, nn::RReLUOptions().lower(0.2).upper(0.5));
  rows.back().draws = true;
  add<nn::GELU>(rows, "GELU", [](double x) { return 0.5 * x * std::erfc(-x / std::sqrt(2.0)); });
  add<nn::GELU>(
      rows, "GELU by tanh",
      [](double x) { return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); },
      nn::GELUOptions().approximate("tanh"));
  add<nn::Softplus>(
      rows, "Softplus", [](double x) { return 1.5 * x > 2 ? x : std::log1p(std::exp(1.5 * x)) / 1.5; },
      nn::SoftplusOptions().beta(1.5).threshold(2));
  add<nn::Threshold>(
      rows, "Threshold", [](double x) { return x > 0.3 ? x : -2; }, nn::ThresholdOptions(0.3, -2));
  add<nn::LogSigmoid>(rows, "LogSigmoid", [](double x) { return std::log(sigmoid(x)); });
  add<nn::SiLU>(rows, "SiLU", [](double x) { return x * sigmoid(x); });
  add<nn::Mish>(rows, "Mish", [](double x) { return x * std::tanh(std::log1p(std::exp(x))); });
  add<nn::Sigmoid>(rows, "Sigmoid", sigmoid);
  add<nn::Softsign>(rows, "Softsign", [](double x) { return x / (1 + std::abs(x)); });
  add<nn::Tanh>(rows, "Tanh", [](double x) { return std::tanh(x); });
  add<nn::Tanhshrink>(rows, "Tanhshrink", [](double x) { return x - std::tanh(x); });
  add<nn::Hardsigmoid>(rows, "Hardsigmoid", [=](double x) { return clamp(x / 6 + 0.5, 0, 1); });
  add<nn::Hardswish>(rows, "Hardswish", [=](double x) { return x * clamp(x / 6 + 0.5, 0, 1); });
  add<nn::Functional>(
      rows, "Functional", [](double x) { return std::tanh(x); },
      nn::FunctionalImpl::Function([](const Variable& x) { return x.tanh(); }));
  add<nn::Identity>(rows, "Identity", [](double x) { return x; });

  rows.push_back(row<nn::Softmax>(
      "Softmax", {wave({2, 3, 4})},
      [](In in, const Tensors&) -> variable_list { return {plain_softmax(in[0], 1)}; },
      nn::SoftmaxOptions(1)));
  rows.push_back(row<nn::Softmin>(
      "Softmin", {wave({2, 3, 4})},
      [](In in, const Tensors&) -> variable_list { return {plain_softmax(-in[0], -3)}; },
      nn::SoftminOptions(-3)));
  rows.push_back(row<nn::LogSoftmax>(
      "LogSoftmax", {wave({2, 3, 4})},
      [](In in, const Tensors&) -> variable_list { return {plain_softmax(in[0], 2).log()}; },
      nn::LogSoftmaxOptions(-1)));
  for (const Sizes& sizes : {Sizes{2, 3, 2, 2}, Sizes{3, 1, 2}})
    rows.push_back(row<nn::Softmax2d>("Softmax2d", {wave(sizes)}, [](In in, const Tensors&) -> variable_list {
      return {plain_softmax(in[0], -3)};
    }));
  rows.push_back(row<nn::GLU>(
      "GLU", {wave({2, 6, 3})},
      [](In in, const Tensors&) -> variable_list {
        return {in[0].slice(1, 0, 3) / (1 + (-in[0].slice(1, 3, 6)).exp())};
      },
      nn::GLUOptions(1)));
  for (const std::int64_t count : {1, 3}) {
    rows.push_back(row<nn::PReLU>(
        "PReLU", {wave({2, 3, 4})},
        [](In in, const Tensors& t) -> variable_list {
          return {in[0].clamp_min(0) + t["weight"].view({1, -1, 1}) * in[0].clamp_max(0)};
        },
        nn::PReLUOptions(count)));
    rows.back().names = {"weight"};
  }
  const auto linear = [](In in, const Tensors& t) -> variable_list {
    Variable y = (in[0].unsqueeze(-2) * t["weight"]).sum(-1);
    if (t["bias"].defined()) y = y + t["bias"];
    return {y};
  };
  rows.push_back(row<nn::Linear>("Linear", {wave({2, 3})}, linear, nn::LinearOptions(3, 4)));
  rows.back().names = {"weight", "bias"};
  rows.push_back(
      row<nn::Linear>("Linear of a vector", {wave({3})}, linear, nn::LinearOptions(3, 1).bias(false)));
  rows.back().names = {"weight"};
  rows.back().batch = -1;
  rows.push_back(
      row<nn::Linear>("Linear of many dimensions", {wave({2, 1, 3, 2})}, linear, nn::LinearOptions(2, 3)));
  rows.push_back(row<nn::LazyLinear>("LazyLinear", {wave({2, 2, 3})}, linear, nn::LinearOptions(0, 4)));
  lazy<nn::LazyLinear>(rows.back(), nn::LinearOptions(0, 4));
  rows.back().names = {"weight", "bias"};
  for (const bool bias : {true, false}) {
    rows.push_back(row<nn::Bilinear>(
        "Bilinear", {wave({2, 2, 3}), wave({2, 2, 2}, 1)},
        [=](In in, const Tensors& t) -> variable_list {
          const Variable y = ebb::einsum("abi,kij,abj->abk", {in[0], t["weight"], in[1]});
          return {bias ? y + t["bias"] : y};
        },
        nn::BilinearOptions(3, 2, 4).bias(bias)));
    rows.back().names =
        bias ? std::vector<std::string>{"weight", "bias"} : std::vector<std::string>{"weight"};
  }
  rows.push_back(row_called<nn::Sequential>(
      "Sequential", {wave({2, 3})}, [](auto& m, In in) { return flat(nn::detail::call_module(m, in[0])); },
      [](In in, const Tensors& t) -> variable_list {
        const Variable h = (in[0].unsqueeze(-2) * t["0.weight"]).sum(-1) + t["0.bias"];
        return {(h.tanh().unsqueeze(-2) * t["2.weight"]).sum(-1)};
      },
      nn::Linear(3, 2), nn::Tanh(), nn::Linear(nn::LinearOptions(2, 1).bias(false))));
  rows.back().names = {"0.weight", "0.bias", "2.weight"};
  rows.back().make = [] {
    return nn::Sequential(nn::Linear(3, 2), nn::Tanh(), nn::Linear(nn::LinearOptions(2, 1).bias(false)))
        .ptr();
  };
  add_dropout<nn::Dropout>(rows, "Dropout", {3, 4});
  add_dropout<nn::Dropout1d>(rows, "Dropout1d", {2, 3, 4});
  add_dropout<nn::Dropout2d>(rows, "Dropout2d", {2, 3, 2, 2});
  add_dropout<nn::Dropout3d>(rows, "Dropout3d", {2, 3, 2, 1, 2});
  add_dropout<nn::AlphaDropout>(rows, "AlphaDropout", {3, 4});
  add_dropout<nn::FeatureAlphaDropout>(rows, "FeatureAlphaDropout", {2, 3, 4});
  return rows;
}

}  // namespace modules
