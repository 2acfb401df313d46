// The multi-layer perceptron and small layers, by plain formulas.
#include <ebb/models.h>

#include <algorithm>
#include <sstream>

#include "support/catch.h"
#include "support/compare.h"

using namespace ebb;
using support::Saying;
using Widths = std::vector<std::int64_t>;

namespace {

// The rows of x times the weight's rows, plus the bias.
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

TEST_CASE("an MLP is linear layers with ReLU between them, and dropout where it is asked for") {
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

TEST_CASE("Conv1D multiplies by a weight of inputs by outputs, and says how many of each") {
  models::Conv1D layer(3, 2, 0.1);
  std::ostringstream text;
  text << layer;
  CHECK(text.str() == "ebb::models::Conv1D(in_features=3, out_features=2)");
  layer->to(kDouble);
  const Tensor x = randn({4, 3}, kDouble);
  support::require_close(layer(x), affine(support::numbers(x), layer->weight.t(), layer->bias));
}

TEST_CASE("squeeze and excitation without activations scales by the second layer of the first") {
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
