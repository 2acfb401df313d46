// Normalisations and losses.
#include "optable/rows.h"

#include <cmath>

namespace optable {
namespace {

using In = const variable_list&;
using V = const Variable&;
using Arrays = std::vector<Array>;

/// The mean over all elements of f(a, b).
Row::Reference mean_of(double (*f)(double, double)) {
  return [f](const Arrays& in) {
    double s = 0;
    for (std::size_t i = 0; i < in[0].values.size(); ++i) s += f(in[0][i], in[1][i]);
    return Arrays{{{}, {s / static_cast<double>(in[0].values.size())}}};
  };
}

Arrays layer(const Arrays& in) {
  Array out = in[0];
  const std::size_t n = static_cast<std::size_t>(out.sizes.back());
  for (std::size_t at = 0; at < out.values.size(); at += n) {
    double m = 0, v = 0;
    for (std::size_t i = 0; i < n; ++i) m += in[0][at + i] / static_cast<double>(n);
    for (std::size_t i = 0; i < n; ++i) v += std::pow(in[0][at + i] - m, 2) / static_cast<double>(n);
    for (std::size_t i = 0; i < n; ++i)
      out.values[at + i] = (in[0][at + i] - m) / std::sqrt(v + 1e-5) * in[1][i] + in[2][i];
  }
  return {out};
}

Arrays crossed(const Arrays& in) {
  const std::size_t n = static_cast<std::size_t>(in[0].sizes[0]),
                    c = static_cast<std::size_t>(in[0].sizes[1]);
  double loss = 0;
  for (std::size_t i = 0; i < n; ++i) {
    double s = 0;
    for (std::size_t j = 0; j < c; ++j) s += std::exp(in[0][i * c + j]);
    loss += std::log(s) - in[0][i * c + static_cast<std::size_t>(in[1][i])];
  }
  return {{{}, {loss / static_cast<double>(n)}}};
}

Variable classes(std::size_t, std::size_t input) {
  return input == 1 ? ebb::tensor(std::vector<double>{0, 2, 1}, ebb::kF64).to(ebb::kLong) : Variable();
}

Row& loss(const char* name, Variable (*f)(V, V)) { return binary(name, f).shapes({{{3, 4}, {3, 4}}}); }
Row& norm(const char* name, Variable (*f)(V, V, V), Sizes x, Sizes w) {
  return row(name, [f](In v) { return variable_list{f(v[0], v[1], v[2])}; }).shapes({{x, w, w}});
}

void losses() {
  loss("mse_loss", [](V a, V b) {
    return ebb::mse_loss(a, b);
  }).reference(mean_of([](double a, double b) { return (a - b) * (a - b); }));
  loss("l1_loss", [](V a, V b) {
    return ebb::l1_loss(a, b);
  }).reference(mean_of([](double a, double b) { return std::fabs(a - b); }));
  loss("smooth_l1_loss", [](V a, V b) {
    return ebb::smooth_l1_loss(a, b);
  }).reference(mean_of([](double a, double b) {
    const double d = std::fabs(a - b);
    return d < 1 ? d * d / 2 : d - 0.5;
  }));
  loss("huber_loss", [](V a, V b) {
    return ebb::huber_loss(a, b);
  }).reference(mean_of([](double a, double b) {
    const double d = std::fabs(a - b);
    return d < 1 ? d * d / 2 : d - 0.5;
  }));
  loss("soft_margin_loss", [](V a, V b) { return ebb::soft_margin_loss(a, b); })
      .constant(1)
      .reference(mean_of([](double a, double b) { return std::log1p(std::exp(-a * b)); }));
  loss("binary_cross_entropy", [](V a, V b) { return ebb::binary_cross_entropy(a, b); })
      .range(0.1, 0.9)
      .constant(1)
      .reference(mean_of([](double a, double b) { return -b * std::log(a) - (1 - b) * std::log(1 - a); }));
  loss("binary_cross_entropy_with_logits",
       [](V a, V b) { return ebb::binary_cross_entropy_with_logits(a, b); })
      .range(-2, 2)
      .range(0.1, 0.9)
      .constant(1)
      .reference(mean_of([](double a, double b) { return std::log1p(std::exp(a)) - a * b; }));
  loss("kl_div", [](V a, V b) { return ebb::kl_div(a, b); })
      .range(-2, 2)
      .range(0.1, 0.9)
      .constant(1)
      .reference(mean_of([](double a, double b) { return b * (std::log(b) - a); }));
  loss("cross_entropy_loss", [](V a, V b) { return ebb::cross_entropy_loss(a, b); })
      .shapes({{{3, 4}, {3}}})
      .special(classes)
      .reference(crossed);
  loss("nll_loss", [](V a, V b) { return ebb::nll_loss(ebb::log_softmax(a, 1), b); })
      .shapes({{{3, 4}, {3}}})
      .special(classes)
      .reference(crossed);
}

void norms() {
  norm("layer_norm", [](V x, V w, V b) { return ebb::layer_norm(x, {4}, w, b); }, {2, 3, 4}, {4})
      .reference(layer);
  norm("batch_norm", [](V x, V w, V b) { return ebb::batch_norm(x, w, b, {}, {}, true, 0.1, 1e-5); },
       {4, 3, 2}, {3});
  norm("group_norm", [](V x, V w, V b) { return ebb::group_norm(x, 2, w, b); }, {2, 4, 3}, {4});
  norm("instance_norm", [](V x, V w, V b) { return ebb::instance_norm(x, w, b, {}, {}, true, 0.1, 1e-5); },
       {2, 3, 4}, {3});
  loss("cosine_similarity", [](V a, V b) { return ebb::cosine_similarity(a, b); });
  loss("pairwise_distance", [](V a, V b) { return ebb::pairwise_distance(a, b); });
}

}  // namespace

void register_norm_loss() {
  losses();
  norms();
}

}  // namespace optable
