// Activations.
#include "optable/rows.h"

#include <cmath>

namespace optable {
namespace {

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double softplus(double x) { return std::log1p(std::exp(x)); }

}  // namespace

void register_activation() {
  unary("relu", ebb::relu)
      .kinks({0})
      .reference([](double x) { return x > 0 ? x : 0; })
      .in_place([](const variable_list& x) { return ebb::relu_(x[0]); });
  unary("relu6", ebb::relu6).range(-3, 9).kinks({0, 6}).reference([](double x) {
    return x < 0 ? 0 : x > 6 ? 6 : x;
  });
  unary("leaky_relu", [](const Variable& x) { return ebb::leaky_relu(x, 0.2); })
      .kinks({0})
      .reference([](double x) { return x > 0 ? x : 0.2 * x; });
  unary("elu", [](const Variable& x) { return ebb::elu(x, 1.5); }).kinks({0}).reference([](double x) {
    return x > 0 ? x : 1.5 * std::expm1(x);
  });
  unary("selu", ebb::selu).kinks({0}).reference([](double x) {
    return 1.0507009873554804934193349852946 *
           (x > 0 ? x : 1.6732632423543772848170429916717 * std::expm1(x));
  });
  unary("celu", [](const Variable& x) { return ebb::celu(x, 1.5); }).kinks({0}).reference([](double x) {
    return x > 0 ? x : 1.5 * std::expm1(x / 1.5);
  });
  unary("gelu", [](const Variable& x) { return ebb::gelu(x); }).reference([](double x) {
    return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
  });
  unary("gelu.tanh", [](const Variable& x) { return ebb::gelu(x, "tanh"); }).reference([](double x) {
    return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
  });
  unary("silu", ebb::silu).reference([](double x) { return x * sigmoid(x); });
  unary("mish", ebb::mish).reference([](double x) { return x * std::tanh(softplus(x)); });
  unary("softplus", [](const Variable& x) { return ebb::softplus(x, 2, 20); }).reference([](double x) {
    return softplus(2 * x) / 2;
  });
  unary("softsign", ebb::softsign).kinks({0}).reference([](double x) { return x / (1 + std::fabs(x)); });
  unary("tanhshrink", ebb::tanhshrink).reference([](double x) { return x - std::tanh(x); });
  unary("log_sigmoid", ebb::log_sigmoid).reference([](double x) { return -softplus(-x); });
  unary("hardtanh", [](const Variable& x) { return ebb::hardtanh(x, -1, 0.5); })
      .kinks({-1, 0.5})
      .reference([](double x) { return x < -1    ? -1
                                       : x > 0.5 ? 0.5
                                                 : x; });
  unary("hardsigmoid", ebb::hardsigmoid).range(-5, 5).kinks({-3, 3}).reference([](double x) {
    return x < -3 ? 0 : x > 3 ? 1 : x / 6 + 0.5;
  });
  unary("hardswish", ebb::hardswish).range(-5, 5).kinks({-3, 3}).reference([](double x) {
    return x < -3 ? 0 : x > 3 ? x : x * (x + 3) / 6;
  });
  unary("hardshrink", [](const Variable& x) { return ebb::hardshrink(x, 0.5); })
      .kinks({-0.5, 0.5})
      .reference([](double x) { return std::fabs(x) > 0.5 ? x : 0; });
  unary("softshrink", [](const Variable& x) { return ebb::softshrink(x, 0.5); })
      .kinks({-0.5, 0.5})
      .reference([](double x) { return x > 0.5    ? x - 0.5
                                       : x < -0.5 ? x + 0.5
                                                  : 0; });
  unary("threshold", [](const Variable& x) { return ebb::threshold(x, 0.3, 7); })
      .kinks({0.3})
      .reference([](double x) { return x > 0.3 ? x : 7; });
  unary("glu", [](const Variable& x) { return ebb::glu(x, -1); })
      .shapes({{{3, 4}}, {{2, 3, 6}}})
      .error("even", [] {
        ebb::glu(ebb::ones({3, 5}));
      });
  binary("prelu", [](const Variable& x, const Variable& w) { return ebb::prelu(x, w); })
      .kinks({0})
      .shapes({{{3, 4}, {4}}, {{3, 4}, {1}}});
}

}  // namespace optable
