// Activations.
#include "optable/reference.h"
#include "optable/table.h"

#include <cmath>

namespace optable {
namespace {

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double softplus(double x) { return std::fmax(x, 0) + std::log1p(std::exp(-std::fabs(x))); }

// Defined for every number, with a finite slope.
Row& activation(const char* name, Variable (*f)(V)) {
  return unary(name, f).range(-7, 7).finite().accurate(1e-14, 2e-6);
}

void linear_pieces() {
  activation("relu", ebb::relu)
      .kinks({0})
      .at({0}, 0, {0})
      .at({NAN}, NAN)
      .given_integers(Gives::same)
      .given_booleans(Gives::error)
      .reference([](double x) { return x > 0 ? x : 0; })
      .in_place([](In x) { return ebb::relu_(x[0]); })
      .error("Bool", [] { ebb::relu(ebb::ones({2}, ebb::kBool)); });
  activation("relu6", ebb::relu6)
      .kinks({0, 6})
      .at({0}, 0, {0})
      .at({6}, 6, {0})
      .node("HardtanhBackward0")
      .in_place([](In x) { return ebb::relu6_(x[0]); })
      .reference([](double x) { return x < 0   ? 0
                                       : x > 6 ? 6
                                               : x; });
  activation("leaky_relu", [](V x) { return ebb::leaky_relu(x, 0.2); })
      .kinks({0})
      .at({0}, 0, {0.2})
      .in_place([](In x) { return ebb::leaky_relu_(x[0], 0.2); })
      .reference([](double x) { return x > 0 ? x : 0.2 * x; });
  binary("prelu", [](V x, V w) { return ebb::prelu(x, w); })
      .kinks({0})
      .range(-7, 7)
      .range(-2, 2)
      .shapes({{{3, 4}, {4}}, {{2, 3}, {1}}, {{2, 3, 2}, {3}}})
      .reference(built_like([](const Arrays& in, const Index& i) {
        const double x = in[0](i);
        return x > 0 ? x : x * in[1][in[1].numel() == 1 ? 0 : static_cast<std::size_t>(i[1])];
      }))
      .error("parameter numbers = 3", [] {
        ebb::prelu(ebb::ones({3, 4}), ebb::ones({3}));
      });
  activation("hardtanh", [](V x) { return ebb::hardtanh(x, -1, 0.5); })
      .kinks({-1, 0.5})
      .at({-1}, -1, {0})
      .at({0.5}, 0.5, {0})
      .in_place([](In x) { return ebb::hardtanh_(x[0], -1, 0.5); })
      .reference([](double x) { return x < -1    ? -1
                                       : x > 0.5 ? 0.5
                                                 : x; });
  Row& exchanged = activation("hardtanh.exchanged", [](V x) { return ebb::hardtanh(x, 1, -1); })
                       .in_place([](In x) { return ebb::hardtanh_(x[0], 1, -1); })
                       .reference([](double) { return -1.0; })
                       .given_integers(Gives::same);
  for (const double x : {-2.0, -1.0, 0.0, 1.0, 2.0}) exchanged.at({x}, -1, {0});  // the second bound wins
  activation("hardsigmoid", ebb::hardsigmoid)
      .kinks({-3, 3})
      .in_place([](In x) { return ebb::hardsigmoid_(x[0]); })
      .reference([](double x) { return x < -3  ? 0
                                       : x > 3 ? 1
                                               : x / 6 + 0.5; });
  activation("hardswish", ebb::hardswish)
      .kinks({-3, 3})
      .at({-3}, 0, {0})
      .at({3}, 3, {1})
      .at({-INFINITY}, 0, {0})
      .in_place([](In x) { return ebb::hardswish_(x[0]); })
      .reference([](double x) { return x < -3  ? 0
                                       : x > 3 ? x
                                               : x * (x + 3) / 6; });
  activation("hardshrink", [](V x) { return ebb::hardshrink(x, 0.5); })
      .kinks({-0.5, 0.5})
      .reference([](double x) { return std::fabs(x) > 0.5 ? x : 0; });
  activation("softshrink", [](V x) { return ebb::softshrink(x, 0.5); })
      .kinks({-0.5, 0.5})
      .reference([](double x) { return x > 0.5    ? x - 0.5
                                       : x < -0.5 ? x + 0.5
                                                  : 0; })
      .error("lambd", [] { ebb::softshrink(ebb::ones({2}), -1); });
  activation("threshold", [](V x) { return ebb::threshold(x, 0.25, 7); })
      .kinks({0.25})
      .at({0.25}, 7, {0})  // what meets the threshold is replaced, and no gradient passes
      .in_place([](In x) { return ebb::threshold_(x[0], 0.25, 7); })
      .reference([](double x) { return x > 0.25 ? x : 7; });
}

void exponential() {
  activation("elu", [](V x) { return ebb::elu(x, 1.5); })
      .kinks({0})
      .in_place([](In x) { return ebb::elu_(x[0], 1.5); })
      .reference([](double x) { return x > 0 ? x : 1.5 * std::expm1(x); });
  activation("elu.scaled", [](V x) { return ebb::elu(x, 1.7, 0.5, 2); }).kinks({0}).reference([](double x) {
    return x > 0 ? 0.5 * x : 0.85 * std::expm1(2 * x);
  });
  activation("selu", ebb::selu)
      .kinks({0})
      .in_place([](In x) { return ebb::selu_(x[0]); })
      .reference([](double x) {
        return 1.0507009873554804934193349852946 *
               (x > 0 ? x : 1.6732632423543772848170429916717 * std::expm1(x));
      });
  activation("celu", [](V x) { return ebb::celu(x, 1.5); })
      .kinks({0})
      .in_place([](In x) { return ebb::celu_(x[0], 1.5); })
      .reference([](double x) { return x > 0 ? x : 1.5 * std::expm1(x / 1.5); })
      .error("alpha", [] { ebb::celu(ebb::ones({2}), 0.0); });
  activation("gelu", [](V x) { return ebb::gelu(x); })
      .at({INFINITY}, INFINITY, {1})
      .at({-INFINITY}, 0, {0})
      .in_place([](In x) { return ebb::gelu_(x[0]); })
      .reference([](double x) { return 0.5 * x * std::erfc(-x / std::sqrt(2.0)); })
      .error("approximate", [] { ebb::gelu(ebb::ones({2}), "sinh"); });
  activation("gelu.tanh", [](V x) { return ebb::gelu(x, "tanh"); })
      .at({INFINITY}, INFINITY, {1})
      .at({-INFINITY}, 0, {0})
      .at({3e19}, 3e19, {1})
      .in_place([](In x) { return ebb::gelu_(x[0], "tanh"); })
      .reference([](double x) { return x * sigmoid(std::sqrt(8 / M_PI) * (x + 0.044715 * x * x * x)); });
  activation("silu", ebb::silu)
      .at({INFINITY}, INFINITY, {1})
      .at({-INFINITY}, 0, {0})
      .given_integers(Gives::error)
      .in_place([](In x) { return ebb::silu_(x[0]); })
      .reference([](double x) { return x * sigmoid(x); });
  activation("mish", ebb::mish)
      .at({INFINITY}, INFINITY, {1})
      .at({-INFINITY}, 0, {0})
      .in_place([](In x) { return ebb::mish_(x[0]); })
      .reference([](double x) { return x * std::tanh(softplus(x)); });
  activation("softplus", [](V x) { return ebb::softplus(x); })
      .at({1000}, 1000, {1})
      .at({-1000}, 0, {0})
      .reference(softplus);
  activation("softplus.beta", [](V x) { return ebb::softplus(x, 2, 20); }).reference([](double x) {
    return softplus(2 * x) / 2;
  });
  activation("softplus.high_threshold", [](V x) { return ebb::softplus(x, 1, 1000); })
      .at({90}, 90, {1})
      .reference(softplus);
  activation("softplus.threshold", [](V x) { return ebb::softplus(x, 2, 3); })
      .kinks({1.5})
      .reference([](double x) { return 2 * x > 3 ? x : softplus(2 * x) / 2; });
  activation("softsign", ebb::softsign)
      .kinks({0})
      .at({INFINITY}, 1, {0})
      .node("DivBackward0")
      .reference([](double x) { return x / (1 + std::fabs(x)); });
  activation("tanhshrink", ebb::tanhshrink)
      .at({INFINITY}, INFINITY, {1})
      .node("SubBackward0")
      .reference([](double x) {
        return std::fabs(x) < 1e-3 ? x * x * x * (1 / 3.0 - x * x * (2 / 15.0)) : x - std::tanh(x);
      });
  activation("log_sigmoid", ebb::log_sigmoid)
      .at({1000}, 0, {0})
      .at({-1000}, -1000, {1})
      .reference([](double x) { return -softplus(-x); });
  unary("glu", [](V x) { return ebb::glu(x, -1); })
      .shapes({{{3, 4}}, {{2, 3, 6}}})
      .reference([](const Arrays& in) {
        Sizes sizes = in[0].sizes;
        sizes.back() /= 2;
        return Arrays{build(sizes, [&](Index i) {
          const double a = in[0](i);
          i.back() += sizes.back();
          return a * sigmoid(in[0](i));
        })};
      })
      .error("even", [] {
        ebb::glu(ebb::ones({3, 5}));
      });
}

}  // namespace

void register_activation() {
  family("elementwise");
  linear_pieces();
  exponential();
}

}  // namespace optable
