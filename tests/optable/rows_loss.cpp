// Losses.
#include "optable/reference.h"
#include "optable/rows.h"

#include <algorithm>
#include <cmath>

namespace optable {
namespace {

/// A mean of f(x, y) over all elements; what is composed of several ops rounds as often.
Row& pointwise(const char* name, Variable (*f)(V, V), double (*formula)(double, double)) {
  return binary(name, f).shapes({{{3, 4}, {3, 4}}}).reference(mean_of(formula)).roundings(8);
}

double huber(double a, double b) {
  const double d = std::fabs(a - b);
  return d < 1 ? d * d / 2 : d - 0.5;
}

void regressions() {
  pointwise(
      "mse_loss", [](V a, V b) { return ebb::mse_loss(a, b); },
      [](double a, double b) { return (a - b) * (a - b); })
      .error("broadcast", [] { ebb::mse_loss(ebb::ones({2}), ebb::ones({3})); });
  pointwise(
      "l1_loss", [](V a, V b) { return ebb::l1_loss(a, b); },
      [](double a, double b) { return std::fabs(a - b); });
  pointwise(
      "smooth_l1_loss", [](V a, V b) { return ebb::smooth_l1_loss(a, b); }, huber)
      .error("beta", [] { ebb::smooth_l1_loss(ebb::ones({2}), ebb::ones({2}), ebb::Reduction::Mean, -1); });
  pointwise(
      "huber_loss", [](V a, V b) { return ebb::huber_loss(a, b); }, huber)
      .error("delta", [] { ebb::huber_loss(ebb::ones({2}), ebb::ones({2}), ebb::Reduction::Mean, 0); });
  pointwise(
      "soft_margin_loss", [](V a, V b) { return ebb::soft_margin_loss(a, b); },
      [](double a, double b) { return std::log1p(std::exp(-a * b)); })
      .constant(1);
  pointwise(
      "binary_cross_entropy", [](V a, V b) { return ebb::binary_cross_entropy(a, b); },
      [](double a, double b) { return -b * std::log(a) - (1 - b) * std::log(1 - a); })
      .range(0.1, 0.9)
      .constant(1)
      .error("binary_cross_entropy", [] { ebb::binary_cross_entropy(ebb::full({2}, 2.0), ebb::ones({2})); });
  pointwise(
      "binary_cross_entropy_with_logits",
      [](V a, V b) { return ebb::binary_cross_entropy_with_logits(a, b); },
      [](double a, double b) { return std::log1p(std::exp(a)) - a * b; })
      .range(-2, 2)
      .range(0.1, 0.9)
      .constant(1);
  pointwise(
      "kl_div", [](V a, V b) { return ebb::kl_div(a, b); },
      [](double a, double b) { return b * (std::log(b) - a); })
      .range(-2, 2)
      .range(0.1, 0.9)
      .constant(1);
  pointwise(
      "poisson_nll_loss",
      [](V a, V b) { return ebb::poisson_nll_loss(a, b, true, false, 1e-8, ebb::Reduction::Mean); },
      [](double a, double b) { return std::exp(a) - b * a; })
      .constant(1);
  pointwise(
      "poisson_nll_loss.full",
      [](V a, V b) { return ebb::poisson_nll_loss(a, b, false, true, 1e-8, ebb::Reduction::Mean); },
      [](double a, double b) {
        return a - b * std::log(a + 1e-8) + b * std::log(b) - b + 0.5 * std::log(2 * M_PI * b);
      })
      .range(1.1, 4)
      .constant(1)
      .no_half("eps is nothing in 16 bits, and Stirling's terms cancel");
}

// Labels are the signs of the last input.
void margins() {
  pointwise(
      "hinge_embedding_loss", [](V a, V b) { return ebb::hinge_embedding_loss(a, b.sign(), 0.9); },
      [](double x, double y) { return y > 0 ? x : std::fmax(0, 0.9 - x); })
      .kinks({0, 0.9})
      .constant(1);
  row("margin_ranking_loss",
      [](In x) { return variable_list{ebb::margin_ranking_loss(x[0], x[1], x[2].sign(), 0.3)}; })
      .shapes({{{7}, {7}, {7}}})
      .constant(2)
      .roundings(8)
      .reference([](const Arrays& in) {
        double s = 0;
        for (std::size_t i = 0; i < 7; ++i)
          s += std::fmax(0, -sign_of(in[2][i]) * (in[0][i] - in[1][i]) + 0.3);
        return Arrays{{{}, {s / 7}}};
      });
  const auto distance = [](const Array& a, const Array& b, std::int64_t row) {
    double s = 0;
    for (std::int64_t k = 0; k < 4; ++k) s += std::pow(a({row, k}) - b({row, k}) + 1e-6, 2);
    return std::sqrt(s);
  };
  row("triplet_margin_loss", [](In x) { return variable_list{ebb::triplet_margin_loss(x[0], x[1], x[2])}; })
      .shapes({{{3, 4}, {3, 4}, {3, 4}}})
      .roundings(8)
      .reference([=](const Arrays& in) {
        double s = 0;
        for (std::int64_t i = 0; i < 3; ++i)
          s += std::fmax(0, distance(in[0], in[1], i) - distance(in[0], in[2], i) + 1);
        return Arrays{{{}, {s / 3}}};
      });
  row("triplet_margin_loss.swap",
      [](In x) { return variable_list{ebb::triplet_margin_loss(x[0], x[1], x[2], 2, 2, 1e-6, true)}; })
      .shapes({{{3, 4}, {3, 4}, {3, 4}}})
      .roundings(8)
      .reference([=](const Arrays& in) {
        double s = 0;
        for (std::int64_t i = 0; i < 3; ++i) {
          const double far = std::fmin(distance(in[0], in[2], i), distance(in[1], in[2], i));
          s += std::fmax(0, distance(in[0], in[1], i) - far + 2);
        }
        return Arrays{{{}, {s / 3}}};
      });
  row("cosine_embedding_loss",
      [](In x) { return variable_list{ebb::cosine_embedding_loss(x[0], x[1], x[2].sign(), -0.9)}; })
      .shapes({{{5, 4}, {5, 4}, {5}}})
      .kinks({0})
      .constant(2)
      .roundings(8)
      .reference([](const Arrays& in) {
        double s = 0;
        for (std::int64_t i = 0; i < 5; ++i) {
          double ab = 0, aa = 0, bb = 0;
          for (std::int64_t k = 0; k < 4; ++k) {
            const double a = in[0]({i, k}), b = in[1]({i, k});
            ab += a * b, aa += a * a, bb += b * b;
          }
          const double cosine = ab / std::sqrt(aa * bb);
          s += in[2]({i}) > 0 ? 1 - cosine : std::fmax(0, cosine + 0.9);
        }
        return Arrays{{{}, {s / 5}}};
      });
  row("multi_margin_loss", [](In x) { return variable_list{ebb::multi_margin_loss(x[0], x[1], 2, 0.7)}; })
      .shapes({{{5, 4}, {5}}})
      .integers(1, 0, 4)
      .roundings(16)
      .reference([](const Arrays& in) {
        double s = 0;
        for (std::int64_t i = 0; i < 5; ++i) {
          const std::int64_t t = static_cast<std::int64_t>(in[1]({i}));
          for (std::int64_t k = 0; k < 4; ++k)
            if (k != t) s += std::pow(std::fmax(0, 0.7 - in[0]({i, t}) + in[0]({i, k})), 2) / 4;
        }
        return Arrays{{{}, {s / 5}}};
      })
      .error("multi_margin_loss", [] {
        ebb::multi_margin_loss(ebb::ones({2, 3}), ebb::zeros({2}, ebb::kLong), 3);
      });
  row("multilabel_margin_loss", [](In x) { return variable_list{ebb::multilabel_margin_loss(x[0], x[1])}; })
      .shapes({{{2, 4}, {2, 4}}})
      .special([](std::size_t, std::size_t input) {
        return input == 1 ? ebb::tensor({3, 0, -1, 1, 2, -1, -1, -1}, ebb::kLong).view({2, 4}) : Variable();
      })
      .roundings(8)
      .reference([](const Arrays& in) {
        double s = 0;
        for (std::int64_t i = 0; i < 2; ++i) {
          std::vector<std::int64_t> labels;
          for (std::int64_t k = 0; k < 4 && in[1]({i, k}) >= 0; ++k)
            labels.push_back(static_cast<std::int64_t>(in[1]({i, k})));
          for (const std::int64_t j : labels)
            for (std::int64_t k = 0; k < 4; ++k)
              if (std::find(labels.begin(), labels.end(), k) == labels.end())
                s += std::fmax(0, 1 - (in[0]({i, j}) - in[0]({i, k}))) / 4;
        }
        return Arrays{{{}, {s / 2}}};
      });
}

/// The weighted mean of f(sample, class, rest) over a target (N, d1, ...) of an input (N, C, d1, ...).
template <class F>
double over_targets(const Arrays& in, F f) {
  double s = 0, n = 0;
  build(in[1].sizes, [&](const Index& i) {
    Index at = i;
    at.insert(at.begin() + 1, static_cast<std::int64_t>(in[1](i)));
    const double weight = in.size() > 2 ? in[2]({at[1]}) : 1;
    s += weight * f(at);
    n += weight;
    return 0;
  });
  return s / n;
}

Arrays likelihood(const Arrays& in) {
  return {{{}, {over_targets(in, [&](const Index& at) { return -in[0](at); })}}};
}
Arrays crossed(const Arrays& in) {
  return {{{}, {over_targets(in, [&](Index at) {
             const double x = in[0](at);
             double s = 0;
             for (at[1] = 0; at[1] < in[0].size(1); ++at[1]) s += std::exp(in[0](at));
             return std::log(s) - x;
           })}}};
}

Row& classes(const char* name, Variable (*f)(V, V), Sizes x, Sizes target) {
  return binary(name, f).shapes({{x, target}}).integers(1, 0, x[1]).roundings(8);
}

void classifications() {
  classes("nll_loss", [](V x, V t) { return ebb::nll_loss(x, t); }, {3, 4}, {3})
      .reference(likelihood)
      .error("nll_loss", [] {
        ebb::nll_loss(ebb::ones({2, 3}), ebb::full({2}, 3));
      });
  row("nll_loss.weights", [](In x) { return variable_list{ebb::nll_loss(x[0], x[1], x[2])}; })
      .shapes({{{3, 4}, {3}, {4}}})
      .range(-2, 2)
      .range(-2, 2)
      .range(0.5, 2)
      .integers(1, 0, 4)
      .constant(2)
      .roundings(8)
      .reference(likelihood);
  classes("nll_loss2d", [](V x, V t) { return ebb::nll_loss2d(x, t); }, {2, 3, 2, 2}, {2, 2, 2})
      .reference(likelihood);
  classes("nll_loss_nd", [](V x, V t) { return ebb::nll_loss_nd(x, t); }, {2, 3, 5}, {2, 5})
      .reference(likelihood);
  classes("cross_entropy_loss", [](V x, V t) { return ebb::cross_entropy_loss(x, t); }, {3, 4}, {3})
      .reference(crossed)
      .error("cross_entropy", [] {
        ebb::cross_entropy_loss(ebb::ones({2, 3}), ebb::full({2}, 3));
      });
  classes("cross_entropy_loss.places", [](V x, V t) { return ebb::cross_entropy_loss(x, t); }, {2, 3, 5},
          {2, 5})
      .reference(crossed);
  binary("cross_entropy_loss.probabilities",
         [](V x, V t) { return ebb::cross_entropy_loss(x, t, {}, ebb::Reduction::Mean, -100, 0.2); })
      .shapes({{{3, 4}, {3, 4}}})
      .range(-2, 2)
      .range(0.1, 0.9)
      .roundings(8)
      .reference([](const Arrays& in) {
        double loss = 0;
        for (std::int64_t i = 0; i < 3; ++i) {
          double s = 0;
          for (std::int64_t k = 0; k < 4; ++k) s += std::exp(in[0]({i, k}));
          for (std::int64_t k = 0; k < 4; ++k)
            loss += (0.8 * in[1]({i, k}) + 0.2 / 4) * (std::log(s) - in[0]({i, k}));
        }
        return Arrays{{{}, {loss / 3}}};
      });
}

}  // namespace

void register_loss() {
  regressions();
  margins();
  classifications();
}

}  // namespace optable
