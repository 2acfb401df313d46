// Activations.
#include "optable/reference.h"
#include "optable/rows.h"

#include <cmath>

namespace optable {
namespace {

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double softplus(double x) { return std::log1p(std::exp(x)); }

void linear_pieces() {
  unary("relu", ebb::relu)
      .kinks({0})
      .reference([](double x) { return x > 0 ? x : 0; })
      .in_place([](In x) { return ebb::relu_(x[0]); })
      .error("Bool", [] { ebb::relu(ebb::ones({2}, ebb::kBool)); });
  unary("relu6", ebb::relu6)
      .range(-3, 9)
      .kinks({0, 6})
      .in_place([](In x) { return ebb::relu6_(x[0]); })
      .reference([](double x) { return x < 0   ? 0
                                       : x > 6 ? 6
                                               : x; });
  unary("leaky_relu", [](V x) { return ebb::leaky_relu(x, 0.2); })
      .kinks({0})
      .in_place([](In x) { return ebb::leaky_relu_(x[0], 0.2); })
      .reference([](double x) { return x > 0 ? x : 0.2 * x; });
  binary("prelu", [](V x, V w) { return ebb::prelu(x, w); })
      .kinks({0})
      .shapes({{{3, 4}, {4}}, {{2, 3}, {1}}})
      .reference(built_like([](const Arrays& in, const Index& i) {
        const double x = in[0](i);
        return x > 0 ? x : x * in[1][in[1].numel() == 1 ? 0 : static_cast<std::size_t>(i[1])];
      }))
      .error("prelu", [] {
        ebb::prelu(ebb::ones({3, 4}), ebb::ones({3}));
      });
  unary("hardtanh", [](V x) { return ebb::hardtanh(x, -1, 0.5); })
      .kinks({-1, 0.5})
      .in_place([](In x) { return ebb::hardtanh_(x[0], -1, 0.5); })
      .reference([](double x) { return x < -1    ? -1
                                       : x > 0.5 ? 0.5
                                                 : x; });
  unary("hardtanh.exchanged", [](V x) {
    return ebb::hardtanh(x, 1, -0.5);
  }).in_place([](In x) {
      return ebb::hardtanh_(x[0], 1, -0.5);
    }).reference([](double) { return -0.5; });
  unary("hardsigmoid", ebb::hardsigmoid)
      .range(-5, 5)
      .kinks({-3, 3})
      .in_place([](In x) { return ebb::hardsigmoid_(x[0]); })
      .reference([](double x) { return x < -3  ? 0
                                       : x > 3 ? 1
                                               : x / 6 + 0.5; });
  unary("hardswish", ebb::hardswish)
      .range(-5, 5)
      .kinks({-3, 3})
      .in_place([](In x) { return ebb::hardswish_(x[0]); })
      .reference([](double x) { return x < -3  ? 0
                                       : x > 3 ? x
                                               : x * (x + 3) / 6; });
  unary("hardshrink", [](V x) { return ebb::hardshrink(x, 0.5); }).kinks({-0.5, 0.5}).reference([](double x) {
    return std::fabs(x) > 0.5 ? x : 0;
  });
  unary("softshrink", [](V x) { return ebb::softshrink(x, 0.5); })
      .kinks({-0.5, 0.5})
      .reference([](double x) { return x > 0.5    ? x - 0.5
                                       : x < -0.5 ? x + 0.5
                                                  : 0; })
      .error("lambd", [] { ebb::softshrink(ebb::ones({2}), -1); });
  unary("threshold", [](V x) { return ebb::threshold(x, 0.3, 7); })
      .kinks({0.3})
      .in_place([](In x) { return ebb::threshold_(x[0], 0.3, 7); })
      .reference([](double x) { return x > 0.3 ? x : 7; });
}

void exponential() {
  unary("elu", [](V x) { return ebb::elu(x, 1.5); })
      .kinks({0})
      .in_place([](In x) { return ebb::elu_(x[0], 1.5); })
      .reference([](double x) { return x > 0 ? x : 1.5 * std::expm1(x); });
  unary("selu", ebb::selu).kinks({0}).in_place([](In x) { return ebb::selu_(x[0]); }).reference([](double x) {
    return 1.0507009873554804934193349852946 *
           (x > 0 ? x : 1.6732632423543772848170429916717 * std::expm1(x));
  });
  unary("celu", [](V x) { return ebb::celu(x, 1.5); })
      .kinks({0})
      .in_place([](In x) { return ebb::celu_(x[0], 1.5); })
      .reference([](double x) { return x > 0 ? x : 1.5 * std::expm1(x / 1.5); })
      .error("alpha", [] { ebb::celu(ebb::ones({2}), 0.0); });
  unary("gelu", [](V x) { return ebb::gelu(x); })
      .in_place([](In x) { return ebb::gelu_(x[0]); })
      .reference([](double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); })
      .error("approximate", [] { ebb::gelu(ebb::ones({2}), "sinh"); });
  unary("gelu.tanh", [](V x) {
    return ebb::gelu(x, "tanh");
  }).in_place([](In x) {
      return ebb::gelu_(x[0], "tanh");
    }).reference([](double x) {
    return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
  });
  unary("silu", ebb::silu).in_place([](In x) { return ebb::silu_(x[0]); }).reference([](double x) {
    return x * sigmoid(x);
  });
  unary("mish", ebb::mish).in_place([](In x) { return ebb::mish_(x[0]); }).reference([](double x) {
    return x * std::tanh(softplus(x));
  });
  unary("softplus", [](V x) { return ebb::softplus(x, 2, 20); }).reference([](double x) {
    return softplus(2 * x) / 2;
  });
  unary("softsign", ebb::softsign).kinks({0}).reference([](double x) { return x / (1 + std::fabs(x)); });
  unary("tanhshrink", ebb::tanhshrink).reference([](double x) { return x - std::tanh(x); });
  unary("log_sigmoid", ebb::log_sigmoid).reference([](double x) { return -softplus(-x); });
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
  linear_pieces();
  exponential();
}

}  // namespace optable
