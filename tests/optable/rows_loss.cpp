// Losses of numbers: each row computes all three reductions.
#include "optable/rows_loss.h"
#include "optable/reference.h"
#include "optable/table.h"

#include <algorithm>
#include <cmath>

namespace optable {
namespace {

using ebb::Reduction::Mean;

Row& pointwise(const char* name, Variable (*f)(V, V, std::int64_t), double (*formula)(double, double)) {
  return loss(name, [f](In x, std::int64_t reduction) { return f(x[0], x[1], reduction); })
      .shapes({{{3, 4}, {3, 4}}})
      .reference([formula](const Arrays& in) {
        return reduced(build(in[0].sizes, [&](const Index& i) { return formula(in[0](i), in[1](i)); }));
      });
}

double huber(double a, double b) {
  const double d = std::fabs(a - b);
  return d < 0.7 ? d * d / 2 : 0.7 * (d - 0.35);
}

void regressions() {
  pointwise(
      "mse_loss", [](V a, V b, std::int64_t r) { return ebb::mse_loss(a, b, r); },
      [](double a, double b) { return (a - b) * (a - b); })
      .error("broadcast", [] { ebb::mse_loss(ebb::ones({2}), ebb::ones({3})); });
  pointwise(
      "l1_loss", [](V a, V b, std::int64_t r) { return ebb::l1_loss(a, b, r); },
      [](double a, double b) { return std::fabs(a - b); });
  pointwise(
      "smooth_l1_loss", [](V a, V b, std::int64_t r) { return ebb::smooth_l1_loss(a, b, r, 0.7); },
      [](double a, double b) { return huber(a, b) / 0.7; })
      .error("beta", [] { ebb::smooth_l1_loss(ebb::ones({2}), ebb::ones({2}), Mean, -1); });
  pointwise(
      "huber_loss", [](V a, V b, std::int64_t r) { return ebb::huber_loss(a, b, r, 0.7); }, huber)
      .error("delta", [] { ebb::huber_loss(ebb::ones({2}), ebb::ones({2}), Mean, 0); });
  pointwise(
      "soft_margin_loss", [](V a, V b, std::int64_t r) { return ebb::soft_margin_loss(a, b, r); },
      [](double a, double b) { return std::log1p(std::exp(-a * b)); })
      .constant(1);
  pointwise(
      "poisson_nll_loss",
      [](V a, V b, std::int64_t r) { return ebb::poisson_nll_loss(a, b, true, false, 1e-8, r); },
      [](double a, double b) { return std::exp(a) - b * a; });
  pointwise(
      "poisson_nll_loss.full",
      [](V a, V b, std::int64_t r) { return ebb::poisson_nll_loss(a, b, false, true, 1e-8, r); },
      [](double a, double b) {
        return a - b * std::log(a + 1e-8) + b * std::log(b) - b + 0.5 * std::log(2 * M_PI * b);
      })
      .range(1.1, 4)
      .no_half("eps is nothing in 16 bits, and Stirling's terms cancel");
  // Stirling's terms come in above 1, not at it.
  pointwise(
      "poisson_nll_loss.full.small",
      [](V a, V b, std::int64_t r) { return ebb::poisson_nll_loss(a, b, true, true, 1e-8, r); },
      [](double a, double b) {
        return std::exp(a) - b * a + (b > 1 ? b * std::log(b) - b + 0.5 * std::log(2 * M_PI * b) : 0);
      })
      .shapes({{{6}, {6}}})
      .special([](std::size_t, std::size_t input) {
        return input == 1 ? ebb::tensor({0.0, 0.25, 1.0, 1.0625, 2.0, 3.0}, ebb::kF64) : Variable();
      })
      .constant(1);
}

void probabilities() {
  pointwise(
      "binary_cross_entropy", [](V a, V b, std::int64_t r) { return ebb::binary_cross_entropy(a, b, {}, r); },
      [](double a, double b) { return -b * std::log(a) - (1 - b) * std::log(1 - a); })
      .range(0.1, 0.9)
      .error("binary_cross_entropy", [] { ebb::binary_cross_entropy(ebb::full({2}, 2.0), ebb::ones({2})); });
  pointwise(
      "binary_cross_entropy_with_logits",
      [](V a, V b, std::int64_t r) { return ebb::binary_cross_entropy_with_logits(a, b, {}, {}, r); },
      [](double a, double b) { return std::log1p(std::exp(a)) - a * b; })
      .range(-2, 2)
      .range(0.1, 0.9);
  loss("binary_cross_entropy_with_logits.weights",
       [](In x, std::int64_t r) { return ebb::binary_cross_entropy_with_logits(x[0], x[1], x[2], x[3], r); })
      .shapes({{{3, 4}, {3, 4}, {4}, {4}}})
      .range(-2, 2)
      .range(0.1, 0.9)
      .range(0.5, 2)
      .range(0.5, 2)
      .constant(2)
      .constant(3)
      .reference([](const Arrays& in) {
        return reduced(build({3, 4}, [&](const Index& i) {
          const double x = in[0](i), y = in[1](i), plus = std::log1p(std::exp(-x)), minus = x + plus;
          return in[2]({i[1]}) * (in[3]({i[1]}) * y * plus + (1 - y) * minus);
        }));
      });
  pointwise(
      "kl_div", [](V a, V b, std::int64_t r) { return ebb::kl_div(a, b, r); },
      [](double a, double b) { return b * (std::log(b) - a); })
      .range(-2, 2)
      .range(0.1, 0.9);
  pointwise(
      "kl_div.log_target", [](V a, V b, std::int64_t r) { return ebb::kl_div(a, b, r, true); },
      [](double a, double b) { return std::exp(b) * (b - a); });
}

double distance(const Array& a, const Array& b, std::int64_t row) {
  double s = 0;
  for (std::int64_t k = 0; k < 4; ++k) s += std::pow(a({row, k}) - b({row, k}) + 1e-6, 2);
  return std::sqrt(s);
}

double cosine(const Array& x, const Array& y, std::int64_t row) {
  double xy = 0, xx = 0, yy = 0;
  for (std::int64_t k = 0; k < 4; ++k) {
    const double a = x({row, k}), b = y({row, k});
    xy += a * b, xx += a * a, yy += b * b;
  }
  return xy / std::sqrt(xx * yy);
}

// Labels are the signs of the last input.
void margins() {
  pointwise(
      "hinge_embedding_loss",
      [](V a, V b, std::int64_t r) { return ebb::hinge_embedding_loss(a, b.sign(), 0.9, r); },
      [](double x, double y) { return y > 0 ? x : std::fmax(0, 0.9 - x); })
      .kinks({0, 0.9})
      .constant(1);
  loss("margin_ranking_loss",
       [](In x, std::int64_t r) { return ebb::margin_ranking_loss(x[0], x[1], x[2].sign(), 0.3, r); })
      .shapes({{{7}, {7}, {7}}})
      .constant(2)
      .reference([](const Arrays& in) {
        return reduced(build({7}, [&](const Index& i) {
          return std::fmax(0, -sign_of(in[2](i)) * (in[0](i) - in[1](i)) + 0.3);
        }));
      });
  for (const bool swap : {false, true})
    loss(swap ? "triplet_margin_loss.swap" : "triplet_margin_loss",
         [swap](In x, std::int64_t r) {
           return ebb::triplet_margin_loss(x[0], x[1], x[2], 2, 2, 1e-6, swap, r);
         })
        .shapes({{{3, 4}, {3, 4}, {3, 4}}})
        .reference([swap](const Arrays& in) {
          return reduced(build({3}, [&](const Index& i) {
            double far = distance(in[0], in[2], i[0]);
            if (swap) far = std::fmin(far, distance(in[1], in[2], i[0]));
            return std::fmax(0, distance(in[0], in[1], i[0]) - far + 2);
          }));
        });
  loss("cosine_embedding_loss",
       [](In x, std::int64_t r) { return ebb::cosine_embedding_loss(x[0], x[1], x[2].sign(), -0.9, r); })
      .shapes({{{5, 4}, {5, 4}, {5}}})
      .kinks({0})
      .constant(2)
      .reference([](const Arrays& in) {
        return reduced(build({5}, [&](const Index& i) {
          const double c = cosine(in[0], in[1], i[0]);
          return in[2](i) > 0 ? 1 - c : std::fmax(0, c + 0.9);
        }));
      });
}

}  // namespace

void register_loss() {
  family("loss");
  regressions();
  probabilities();
  margins();
}

}  // namespace optable
