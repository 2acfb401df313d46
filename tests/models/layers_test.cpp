// Layers and blocks of models, clones, and refused options.
#include <ebb/models.h>

#include "support/catch.h"
#include "support/compare.h"

#include <algorithm>
#include <sstream>

// Layers of vision models, clones, and refused options.

using namespace ebb;
using support::Contains;

TEST_CASE("SqueezeExcitation scales each channel by a function of the channel means") {
  models::SqueezeExcitation layer(models::SqueezeExcitationOptions(4, 2)
                                      .activation(models::Activation::silu)
                                      .scale_activation(models::Activation::hardsigmoid));
  const Tensor x = randn({3, 4, 5, 6});
  const Tensor means = x.mean({2, 3});
  const Tensor inside = silu(linear(means, layer->fc1->weight.flatten(1), layer->fc1->bias));
  const Tensor factors = hardsigmoid(linear(inside, layer->fc2->weight.flatten(1), layer->fc2->bias));
  CHECK(allclose(layer(x), x * factors.view({3, 4, 1, 1}), 1e-5, 1e-6));
}

TEST_CASE("StochasticDepth zeroes whole samples in training") {
  manual_seed(3);
  models::StochasticDepth layer(0.25);
  const Tensor out = layer(ones({4000, 2, 3}));
  const Tensor first = out.select(1, 0).select(1, 0);
  CHECK(equal(out, first.view({-1, 1, 1}).expand({4000, 2, 3})));
  const Tensor kept = first.ne(0);
  CHECK(allclose(first, kept.to(kFloat) / 0.75F));
  CHECK(kept.to(kFloat).mean().item<double>() == Approx(0.75).margin(0.03));

  CHECK(models::StochasticDepth(1.0)(ones({5, 2})).sum().item<float>() == 0);
  layer->eval();
  CHECK(equal(layer(ones({3, 2})), ones({3, 2})));
  std::ostringstream text;
  text << layer;
  CHECK(text.str() == "ebb::models::StochasticDepth(p=0.25, mode=row)");
  CHECK_THROWS_WITH(models::StochasticDepth(1.5), Contains("must be a probability, got 1.5"));
}

TEST_CASE("the StochasticDepth probability of EfficientNet grows with depth") {
  models::EfficientNet net = models::efficientnet_b0(2);
  std::vector<double> p;
  for (const auto& module : net->modules())
    if (auto* layer = module->as<models::StochasticDepth>()) p.push_back(layer->p);
  REQUIRE(p.size() == 16);
  for (std::size_t i = 0; i < p.size(); ++i) CHECK(p[i] == Approx(0.2 * static_cast<double>(i) / 16));
}

TEMPLATE_TEST_CASE("a clone of a model gives equal results and shares no tensor", "", models::LeNet5,
                   models::VGG, models::ResNet, models::MobileNetV3, models::EfficientNet, models::UNet) {
  const auto make = [] {
    if constexpr (std::is_same_v<TestType, models::VGG>)
      return models::VGG(models::VGGOptions(3).width(2).hidden(4));
    else if constexpr (std::is_same_v<TestType, models::UNet>)
      return models::UNet(models::UNetOptions(3, 2).width(2));
    else if constexpr (std::is_same_v<TestType, models::LeNet5>)
      return models::LeNet5(models::LeNet5Options(3).in_channels(3).padding(0));
    else
      return TestType(3);
  };
  TestType net = make();
  net->eval();
  const Tensor images = randn({1, 3, 32, 32});
  TestType copy(std::dynamic_pointer_cast<typename TestType::Impl>(net->clone()));
  const Tensor before = net(images);
  CHECK(equal(copy(images), before));
  {
    const NoGradGuard no_grad;
    for (const Tensor& parameter : copy->parameters()) parameter.zero_();
  }
  CHECK(equal(net(images), before));
  CHECK_FALSE(equal(copy(images), before));

  std::stringstream file;
  save(net, file);
  TestType again = make();
  load(again, file);
  again->eval();
  CHECK(equal(again(images), before));
}

TEST_CASE("load with ignore() loads all but the last layer from a model with another number of classes") {
  const auto narrow = [](std::int64_t classes) { return models::VGGOptions(classes).width(2).hidden(4); };
  models::VGG trained = models::vgg11(narrow(7)), net = models::vgg11(narrow(3));
  std::stringstream file;
  save(trained, file);
  const auto keys = load(net, file, LoadOptions().ignore({"classifier.6."}).strict(false));
  CHECK(keys.missing_keys == std::vector<std::string>{"classifier.6.weight", "classifier.6.bias"});
  CHECK(keys.unexpected_keys.empty());
  for (const auto& item : trained->state_dict())
    if (!item.key().starts_with("classifier.6.")) CHECK(equal(net->state_dict()[item.key()], item.value()));
}

TEST_CASE("models refuse invalid options") {
  CHECK_THROWS_WITH(models::VGG(models::VGGOptions().convolutions({2, 0})),
                    Contains("every stage needs a convolution"));
  CHECK_THROWS_WITH(models::VGG(models::VGGOptions().convolutions({})),
                    Contains("every stage needs a convolution"));
  CHECK_THROWS_WITH(models::resnet18(models::ResNetOptions().groups(2)), Contains("groups 2"));
  CHECK_THROWS_WITH(
      models::resnet18(models::ResNetOptions().replace_stride_with_dilation({false, false, true})),
      Contains("dilation 2"));
  CHECK_THROWS_WITH(models::LeNet5()(zeros({1, 1, 32, 32})), Contains("(N, C, 28, 28)"));
  CHECK_THROWS_WITH(models::UNet(1, 1)(zeros({1, 1, 8, 16})), Contains("at least 16x16"));
}

// MLP and small layers, compared with plain formulas.

using support::Saying;
using Widths = std::vector<std::int64_t>;

namespace {

// Products of the rows of x with the rows of the weight, plus the bias.
std::vector<double> affine(const std::vector<double>& x, const Tensor& weight, const Tensor& bias) {
  const std::vector<double> w = support::numbers(weight), b = support::numbers(bias);
  const std::size_t inputs = w.size() / b.size();
  std::vector<double> out;
  for (std::size_t row = 0; row < x.size(); row += inputs)
    for (std::size_t o = 0; o < b.size(); ++o) {
      out.push_back(b[o]);
      for (std::size_t i = 0; i < inputs; ++i) out.back() += x[row + i] * w[o * inputs + i];
    }
  return out;
}

}  // namespace

TEST_CASE("MLP has ReLU, and dropout if requested, between linear layers") {
  models::MLP net(Widths{3, 4, 5, 2}, 0.5), plain(Widths{3, 2});
  std::ostringstream text;
  text << net;
  CHECK(net->size() == 7);
  CHECK(models::MLP(Widths{3, 4, 5, 2})->size() == 5);
  CHECK(text.str().find("Dropout(p=0.5") != std::string::npos);
  CHECK(text.str().find("Dropout") > text.str().find("ReLU"));
  net->to(kDouble);
  net->eval();
  const Tensor x = randn({2, 3}, kDouble);
  const auto parameters = net->parameters();
  REQUIRE(parameters.size() == 6);
  std::vector<double> expected = support::numbers(x);
  for (std::size_t layer = 0; layer < 3; ++layer) {
    expected = affine(expected, parameters[2 * layer], parameters[2 * layer + 1]);
    if (layer < 2)
      for (double& each : expected) each = std::max(each, 0.0);
  }
  const Tensor y = net(x);
  CHECK(y.sizes() == IntArrayRef({2, 2}));
  support::require_close(y, expected);
  CHECK(plain->size() == 1);
  CHECK_THROWS_MATCHES(models::MLP(Widths{3}), Error,
                       Saying("MLP: needs at least the widths of its input and its output, got 1"));
}

TEST_CASE("Conv1D stores its weight in shape (in_features, out_features) and prints both sizes") {
  models::Conv1D layer(3, 2, 0.1);
  std::ostringstream text;
  text << layer;
  CHECK(text.str() == "ebb::models::Conv1D(in_features=3, out_features=2)");
  layer->to(kDouble);
  const Tensor x = randn({4, 3}, kDouble);
  support::require_close(layer(x), affine(support::numbers(x), layer->weight.t(), layer->bias));
}

TEST_CASE("SqueezeExcitation without activations scales by the output of its second layer") {
  models::SqueezeExcitation layer(models::SqueezeExcitationOptions(4, 2)
                                      .activation(models::Activation::none)
                                      .scale_activation(models::Activation::none));
  layer->to(kDouble);
  const Tensor x = randn({3, 4, 5, 6}, kDouble);
  const auto inside = affine(support::numbers(x.mean({2, 3})), layer->fc1->weight, layer->fc1->bias);
  std::vector<double> expected = support::numbers(x);
  const auto factors = affine(inside, layer->fc2->weight, layer->fc2->bias);
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i] *= factors[i / 30];
  support::require_close(layer(x), expected);
}
