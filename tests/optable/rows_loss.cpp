// Rows of losses of values and of classes: each row computes all three reductions.
#include <ebb/nn/functional/linear_cross_entropy.h>

#include "optable/reference.h"
#include "optable/table.h"

#include <algorithm>
#include <cmath>

// Helpers that rows of losses share.

namespace optable {

/// Adds a row whose outputs are f with Reduction::None, Sum and Mean; a composed op rounds after each of its
/// ops.
Row& loss(std::string name, std::function<Variable(In, std::int64_t reduction)> f);

/// Returns the reference: values, their sum, and the sum divided by `weight`, or by their number.
Arrays reduced(const Array& values, double weight = 0);

// Losses of values: each row computes all three reductions.

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
      .no_half("eps vanishes in 16 bits, and the Stirling terms cancel");
  // The Stirling terms are added above 1, not at 1.
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

// Losses of classes: each row computes all three reductions.

Row& loss(std::string name, std::function<Variable(In, std::int64_t)> f) {
  using namespace ebb::Reduction;
  return row(std::move(name), [f](In x) { return variable_list{f(x, None), f(x, Sum), f(x, Mean)}; })
      .roundings(8);
}

Arrays reduced(const Array& values, double weight) {
  const double sum = total(values.values);
  return {values, {{}, {sum}}, {{}, {sum / (weight > 0 ? weight : static_cast<double>(values.numel()))}}};
}

namespace {

/// Computes f(position of the class) over a target (N, d1, ...) of an input (N, C, d1, ...), times the
/// weights of the third input.
template <class F>
Arrays over_targets(const Arrays& in, F f) {
  double weights = 0;
  const Array values = build(in[1].sizes, [&](const Index& i) {
    Index at = i;
    at.insert(at.begin() + 1, static_cast<std::int64_t>(in[1](i)));
    const double weight = in.size() > 2 ? in[2]({at[1]}) : 1;
    weights += weight;
    return weight * f(at);
  });
  return reduced(values, weights);
}

Arrays likelihood(const Arrays& in) {
  return over_targets(in, [&](const Index& at) { return -in[0](at); });
}
// Returns the log of the sum of exp along dimension 1.
double log_sum(const Array& x, Index at) {
  double s = 0;
  for (at[1] = 0; at[1] < x.size(1); ++at[1]) s += std::exp(x(at));
  return std::log(s);
}
Arrays crossed(const Arrays& in) {
  return over_targets(in, [&](const Index& at) { return log_sum(in[0], at) - in[0](at); });
}
// One fifth of the target is spread over the four classes.
Arrays smoothed(const Arrays& in) {
  return over_targets(in, [&](Index at) {
    const double s = log_sum(in[0], at), own = 0.8 * (s - in[0](at));
    double all = 0;
    for (at[1] = 0; at[1] < 4; ++at[1]) all += s - in[0](at);
    return own + 0.2 / 4 * all;
  });
}

// The same with class 1 ignored: its positions do not count, also in the divisor of the mean.
Arrays smoothed_but_one(const Arrays& in) {
  const auto weight = [&](std::int64_t c) { return in.size() > 2 ? in[2]({c}) : 1; };
  double weights = 0;
  const Array values = build(in[1].sizes, [&](const Index& i) {
    const auto t = static_cast<std::int64_t>(in[1](i));
    if (t == 1) return 0.0;
    weights += weight(t);
    const double s = log_sum(in[0], {i[0], t});
    double all = 0;
    for (std::int64_t c = 0; c < 4; ++c) all += weight(c) * (s - in[0]({i[0], c}));
    return 0.8 * weight(t) * (s - in[0]({i[0], t})) + 0.2 / 4 * all;
  });
  return reduced(values, weights);
}
Variable some_ignored(std::size_t, std::size_t input) {
  return input == 1 ? ebb::tensor({3, 1, 0, 1, 2}, ebb::kLong) : Variable();
}

using Function = Variable (*)(V, V, std::int64_t);

Row& classes(const char* name, Function f, Sizes x, Sizes target) {
  return loss(name, [f](In v, std::int64_t reduction) { return f(v[0], v[1], reduction); })
      .shapes({{x, target}})
      .integers(1, 0, x[1]);
}
Row& weighted(const char* name, Variable (*f)(In, std::int64_t)) {
  return loss(name, f)
      .shapes({{{3, 4}, {3}, {4}}})
      .range(-2, 2)
      .range(-2, 2)
      .range(0.5, 2)
      .integers(1, 0, 4)
      .constant(2);
}

void likelihoods() {
  classes("nll_loss", [](V x, V t, std::int64_t r) { return ebb::nll_loss(x, t, {}, r); }, {3, 4}, {3})
      .reference(likelihood)
      .error("nll_loss", [] { ebb::nll_loss(ebb::ones({2, 3}), ebb::full({2}, 3)); })
      .error("target", [] { ebb::nll_loss(ebb::ones({2, 3}), ebb::full({3}, 1)); });
  weighted("nll_loss.weights", [](In x, std::int64_t r) {
    return ebb::nll_loss(x[0], x[1], x[2], r);
  }).reference(likelihood);
  classes("nll_loss.ignored", [](V x, V t, std::int64_t r) { return ebb::nll_loss(x, t, {}, r, 1); }, {3, 4},
          {3})
      .special([](std::size_t, std::size_t input) {
        return input == 1 ? ebb::tensor({3, 1, 0}, ebb::kLong) : Variable();
      })
      .reference([](const Arrays& in) { return reduced({{3}, {-in[0]({0, 3}), 0, -in[0]({2, 0})}}, 2); });
  classes("nll_loss2d", [](V x, V t, std::int64_t r) { return ebb::nll_loss2d(x, t, {}, r); }, {2, 3, 2, 2},
          {2, 2, 2})
      .reference(likelihood);
  classes("nll_loss_nd", [](V x, V t, std::int64_t r) { return ebb::nll_loss_nd(x, t, {}, r); }, {2, 3, 5},
          {2, 5})
      .reference(likelihood);
}

void entropies() {
  classes("cross_entropy_loss", [](V x, V t, std::int64_t r) { return ebb::cross_entropy_loss(x, t, {}, r); },
          {3, 4}, {3})
      .reference(crossed)
      .error("cross_entropy", [] { ebb::cross_entropy_loss(ebb::ones({2, 3}), ebb::full({2}, 3)); });
  classes("cross_entropy_loss.places",
          [](V x, V t, std::int64_t r) { return ebb::cross_entropy_loss(x, t, {}, r); }, {2, 3, 5}, {2, 5})
      .reference(crossed);
  weighted("cross_entropy_loss.weights", [](In x, std::int64_t r) {
    return ebb::cross_entropy_loss(x[0], x[1], x[2], r);
  }).reference(crossed);
  classes("cross_entropy_loss.smoothing",
          [](V x, V t, std::int64_t r) { return ebb::cross_entropy_loss(x, t, {}, r, -100, 0.2); }, {3, 4},
          {3})
      .reference(smoothed);
  classes("cross_entropy_loss.smoothing.ignored",
          [](V x, V t, std::int64_t r) { return ebb::cross_entropy_loss(x, t, {}, r, 1, 0.2); }, {5, 4}, {5})
      .special(some_ignored)
      .reference(smoothed_but_one);
  weighted("cross_entropy_loss.smoothing.ignored.weights",
           [](In x, std::int64_t r) { return ebb::cross_entropy_loss(x[0], x[1], x[2], r, 1, 0.2); })
      .shapes({{{5, 4}, {5}, {4}}})
      .special(some_ignored)
      .reference(smoothed_but_one);
  loss("cross_entropy_loss.probabilities",
       [](In x, std::int64_t r) { return ebb::cross_entropy_loss(x[0], x[1], {}, r, -100, 0.2); })
      .shapes({{{3, 4}, {3, 4}}})
      .range(-2, 2)
      .range(0.1, 0.9)
      .reference([](const Arrays& in) {
        return reduced(build({3}, [&](const Index& i) {
          double s = 0;
          for (std::int64_t k = 0; k < 4; ++k)
            s += (0.8 * in[1]({i[0], k}) + 0.2 / 4) * (log_sum(in[0], {i[0], k}) - in[0]({i[0], k}));
          return s;
        }));
      });
}

namespace F = ebb::nn::functional;

Row& mapped(const char* name, ebb::optional<std::int64_t> chunk) {
  return loss(name,
              [chunk](In x, std::int64_t reduction) {
                auto options = F::LinearCrossEntropyFuncOptions().linear_bias(x[3]).batch_chunk_size(chunk);
                if (reduction == ebb::Reduction::Sum) options.reduction(ebb::kSum);
                if (reduction == ebb::Reduction::None) options.reduction(ebb::kNone);
                return F::linear_cross_entropy(x[0], x[2], x[1], options);
              })
      .shapes({{{5, 2}, {5}, {4, 2}, {4}}})
      .integers(1, 0, 4)
      .reference([](const Arrays& in) {
        const Array logits = build({5, 4}, [&](const Index& i) {
          return in[0]({i[0], 0}) * in[2]({i[1], 0}) + in[0]({i[0], 1}) * in[2]({i[1], 1}) + in[3]({i[1]});
        });
        return crossed({logits, in[1]});
      });
}

void maps() {
  mapped("linear_cross_entropy", ebb::nullopt)
      .error("expected input (N, in)",
             [] {
               F::linear_cross_entropy(ebb::ones({2, 5, 3}), ebb::ones({4, 3}), ebb::ones({2}, ebb::kLong));
             })
      .error("batch_chunk_size must be positive", [] {
        F::linear_cross_entropy(ebb::ones({2, 3}), ebb::ones({4, 3}), ebb::ones({2}, ebb::kLong),
                                F::LinearCrossEntropyFuncOptions().batch_chunk_size(0));
      });
  mapped("linear_cross_entropy.chunks", 2);
}

void class_margins() {
  loss("multi_margin_loss",
       [](In x, std::int64_t r) { return ebb::multi_margin_loss(x[0], x[1], 2, 0.7, x[2], r); })
      .shapes({{{5, 4}, {5}, {4}}})
      .range(-2, 2)
      .range(-2, 2)
      .range(0.5, 2)
      .integers(1, 0, 4)
      .constant(2)
      .roundings(16)
      .reference([](const Arrays& in) {
        return reduced(build({5}, [&](const Index& i) {
          const std::int64_t t = static_cast<std::int64_t>(in[1](i));
          double s = 0;
          for (std::int64_t k = 0; k < 4; ++k)
            if (k != t) s += std::pow(std::fmax(0, 0.7 - in[0]({i[0], t}) + in[0]({i[0], k})), 2) / 4;
          return in[2]({t}) * s;
        }));
      })
      .error("multi_margin_loss",
             [] { ebb::multi_margin_loss(ebb::ones({2, 3}), ebb::zeros({2}, ebb::kLong), 3); });
  loss("multilabel_margin_loss",
       [](In x, std::int64_t r) { return ebb::multilabel_margin_loss(x[0], x[1], r); })
      .shapes({{{2, 4}, {2, 4}}})
      .special([](std::size_t, std::size_t input) {
        return input == 1 ? ebb::tensor({3, 0, -1, 1, 2, -1, -1, -1}, ebb::kLong).view({2, 4}) : Variable();
      })
      .reference([](const Arrays& in) {
        return reduced(build({2}, [&](const Index& i) {
          std::vector<std::int64_t> labels;
          for (std::int64_t k = 0; k < 4 && in[1]({i[0], k}) >= 0; ++k)
            labels.push_back(static_cast<std::int64_t>(in[1]({i[0], k})));
          double s = 0;
          for (const std::int64_t j : labels)
            for (std::int64_t k = 0; k < 4; ++k)
              if (std::find(labels.begin(), labels.end(), k) == labels.end())
                s += std::fmax(0, 1 - (in[0]({i[0], j}) - in[0]({i[0], k}))) / 4;
          return s;
        }));
      });
}

}  // namespace

void register_class_loss() {
  family("loss");
  likelihoods();
  entropies();
  maps();
  class_margins();
}

}  // namespace optable
