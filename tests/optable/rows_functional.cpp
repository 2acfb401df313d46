// What of nn::functional has a formula of its own.
#include "optable/reference.h"
#include "optable/table.h"

#include <ebb/core/random.h>
#include <ebb/nn/functional/activation.h>
#include <ebb/nn/functional/dropout.h>
#include <ebb/nn/functional/embedding.h>
#include <ebb/nn/functional/loss.h>
#include <ebb/nn/functional/norm.h>
#include <ebb/nn/functional/padding.h>
#include <ebb/nn/functional/pooling.h>

#include <algorithm>
#include <cmath>

namespace optable {
namespace {

namespace F = ebb::nn::functional;

double log_sigmoid(double x) { return -std::log1p(std::exp(-x)); }

void activations() {
  unary("softmin", [](V x) { return F::softmin(x, 1); }).shapes({{{3, 4}}}).reference(along(1, [](Column& c) {
    double s = 0;
    for (const double v : c) s += std::exp(-v);
    for (double& v : c) v = std::exp(-v) / s;
  }));
  unary("gumbel_softmax", [](V x) { return ebb::manual_seed(11), F::gumbel_softmax(x); })
      .shapes({{{3, 4}}})
      .no_reference("which numbers are drawn is held by tests/nn")
      .double_only("each dtype draws numbers of its own")
      .no_layouts("numbers are drawn in the order of memory")
      .cpu_only("each device draws numbers of its own");
  unary("rrelu", [](V x) { return F::rrelu(x, F::RReLUFuncOptions().lower(0.1).upper(0.3)); })
      .kinks({0})
      .reference([](double x) { return x > 0 ? x : 0.2 * x; })
      .error("lower", [] { F::rrelu(ebb::ones({2}), F::RReLUFuncOptions().lower(1).upper(0)); });
}

void norms() {
  unary("normalize", [](V x) { return F::normalize(x); })
      .shapes({{{3, 4}}})
      .roundings(4)
      .reference(along(1, [](Column& c) {
        const double n = length(c);
        for (double& v : c) v /= n;
      }));
  unary("local_response_norm",
        [](V x) { return F::local_response_norm(x, F::LocalResponseNormFuncOptions(3).alpha(0.5).k(2)); })
      .shapes({{{2, 5, 3}}})
      .roundings(4)
      .reference(built_like([](const Arrays& in, const Index& i) {
        double squares = 0;
        for (std::int64_t c = std::max<std::int64_t>(0, i[1] - 1); c <= std::min<std::int64_t>(4, i[1] + 1);
             ++c)
          squares += std::pow(in[0]({i[0], c, i[2]}), 2);
        return in[0](i) / std::pow(2 + 0.5 / 3 * squares, 0.75);
      }))
      .error("local_response_norm", [] {
        F::local_response_norm(ebb::ones({2, 2}), 3);
      });
  unary("pdist", [](V x) { return F::pdist(x); })
      .shapes({{{3, 4}}})
      .roundings(4)
      .reference(built({3},
                       [](const Arrays& in, const Index& i) {
                         const std::int64_t pairs[3][2] = {{0, 1}, {0, 2}, {1, 2}};
                         Column d;
                         for (std::int64_t k = 0; k < 4; ++k)
                           d.push_back(in[0]({pairs[i[0]][0], k}) - in[0]({pairs[i[0]][1], k}));
                         return length(d);
                       }))
      .error("pdist", [] { F::pdist(ebb::ones({2})); });
}

// (x0^3 + x1^3)^(1/3) of pairs along the last axis, which is the only one with windows of more than one.
Row::Reference cubic_pairs(Sizes sizes) {
  return built(std::move(sizes), [](const Arrays& in, Index i) {
    i.back() *= 2;
    const double a = in[0](i);
    i.back() += 1;
    return std::cbrt(a * a * a + std::pow(in[0](i), 3));
  });
}

void pools() {
  unary("lp_pool1d", [](V x) { return F::lp_pool1d(x, F::LPPool1dFuncOptions(3, 2)); })
      .shapes({{{1, 2, 6}}})
      .range(0.5, 2)
      .roundings(8)
      .reference(cubic_pairs({1, 2, 3}));
  unary("lp_pool2d",
        [](V x) {
          return F::lp_pool2d(x, F::LPPool2dFuncOptions(3, {1, 2}));
        })
      .shapes({{{1, 2, 2, 4}}})
      .range(0.5, 2)
      .roundings(8)
      .reference(cubic_pairs({1, 2, 2, 2}));
}

Row& resized_to(const char* name, Variable (*f)(V), Sizes x) {
  return unary(name, f).shapes({{x}}).roundings(8);
}
F::InterpolateFuncOptions resize(std::vector<std::int64_t> size) {
  return F::InterpolateFuncOptions().size(size);
}

/// The last two axes resized from n to m places by weights(m, n, o, i), which add up to one over i.
Row::Reference resampled(Sizes sizes,
                         double (*weight)(std::int64_t, std::int64_t, std::int64_t, std::int64_t)) {
  return built(sizes, [=](const Arrays& in, const Index& o) {
    const std::size_t d = o.size() - 2;
    const auto axis = [&](std::size_t k, std::int64_t i) {
      return weight(sizes[k], in[0].sizes[k], o[k], i);
    };
    double s = 0;
    Index i = o;
    for (i[d] = 0; i[d] < in[0].sizes[d]; ++i[d])
      for (i[d + 1] = 0; i[d + 1] < in[0].sizes[d + 1]; ++i[d + 1])
        s += axis(d, i[d]) * axis(d + 1, i[d + 1]) * in[0](i);
    return s;
  });
}
double nearest(std::int64_t m, std::int64_t n, std::int64_t o, std::int64_t i) {
  return double(o * n / m == i);
}
// A hat around where the middle of o lies among the middles of i; the ends are continued.
double hat(std::int64_t m, std::int64_t n, std::int64_t o, std::int64_t i) {
  const double at = (static_cast<double>(o) + 0.5) * static_cast<double>(n) / static_cast<double>(m) - 0.5;
  const double inside = std::clamp(at, 0.0, static_cast<double>(n - 1));
  return std::max(0.0, 1 - std::fabs(inside - static_cast<double>(i)));
}
double hat_of_corners(std::int64_t m, std::int64_t n, std::int64_t o, std::int64_t i) {
  const double at = static_cast<double>(o * (n - 1)) / static_cast<double>(m - 1);
  return std::max(0.0, 1 - std::fabs(at - static_cast<double>(i)));
}
double keys(double x) {  // Keys' cubic with a = -0.75
  x = std::fabs(x);
  return x <= 1 ? (1.25 * x - 2.25) * x * x + 1 : x < 2 ? -0.75 * (((x - 5) * x + 8) * x - 4) : 0;
}
double cubic(std::int64_t m, std::int64_t n, std::int64_t o, std::int64_t i) {
  const double at = (static_cast<double>(o) + 0.5) * static_cast<double>(n) / static_cast<double>(m) - 0.5;
  double w = keys(at - static_cast<double>(i));
  for (std::int64_t out = 1; out < 4; ++out) {  // what lies outside is the nearest element inside
    if (i == 0) w += keys(at + static_cast<double>(out));
    if (i == n - 1) w += keys(at - static_cast<double>(n - 1 + out));
  }
  return w;
}

void resizes() {
  resized_to("interpolate",
             [](V x) {
               return F::interpolate(x, resize({3, 5}).mode(ebb::kNearest));
             },
             {1, 2, 2, 3})
      .reference(resampled({1, 2, 3, 5}, nearest))
      .error("align_corners", [] {
        F::interpolate(ebb::ones({1, 1, 2}),
                       F::InterpolateFuncOptions().size(std::vector<std::int64_t>{4}).align_corners(true));
      });
  resized_to("interpolate.bilinear",
             [](V x) {
               return F::interpolate(x, resize({3, 5}).mode(ebb::kBilinear));
             },
             {1, 2, 2, 3})
      .reference(resampled({1, 2, 3, 5}, hat));
  resized_to("interpolate.corners",
             [](V x) {
               return F::interpolate(x, resize({3, 5}).mode(ebb::kBilinear).align_corners(true));
             },
             {1, 2, 2, 3})
      .reference(resampled({1, 2, 3, 5}, hat_of_corners));
  resized_to("interpolate.bicubic",
             [](V x) {
               return F::interpolate(x, resize({5, 6}).mode(ebb::kBicubic));
             },
             {1, 1, 4, 3})
      .reference(resampled({1, 1, 5, 6}, cubic));
}

// Bags are the rows of the second input.
Row::Reference bagged(double (*f)(const Column&)) {
  return built({2, 4}, [f](const Arrays& in, const Index& i) {
    Column c;
    for (std::int64_t k = 0; k < 3; ++k)
      c.push_back(in[0]({static_cast<std::int64_t>(in[1]({i[0], k})), i[1]}));
    return f(c);
  });
}
template <class Mode>
Row& bag(const char* name, Mode mode, double (*f)(const Column&)) {
  return row(name,
             [mode](In x) {
               return variable_list{F::embedding_bag(x[1], x[0], F::EmbeddingBagFuncOptions().mode(mode))};
             })
      .shapes({{{5, 4}, {2, 3}}})
      .special([](std::size_t, std::size_t input) {
        return input == 1 ? ebb::tensor({0, 2, 4, 3, 2, 1}, ebb::kLong).view({2, 3}) : Variable();
      })
      .roundings(8)
      .reference(bagged(f));
}

void bags() {
  bag("embedding_bag", ebb::kMean, average).error("embedding_bag", [] {
    F::embedding_bag(ebb::zeros({2}, ebb::kLong), ebb::ones({2, 2}));
  });
  bag("embedding_bag.sum", ebb::kSum, total);
  bag("embedding_bag.max", ebb::kMax, largest);
}

void losses() {
  binary("multilabel_soft_margin_loss", [](V x, V y) { return F::multilabel_soft_margin_loss(x, y); })
      .shapes({{{3, 4}, {3, 4}}})
      .range(-2, 2)
      .range(0, 1)
      .constant(1)
      .roundings(8)
      .reference(
          mean_of([](double x, double y) { return -(y * log_sigmoid(x) + (1 - y) * log_sigmoid(-x)); }));
  row("gaussian_nll_loss", [](In x) { return variable_list{F::gaussian_nll_loss(x[0], x[1], x[2])}; })
      .shapes({{{3, 4}, {3, 4}, {3, 4}}})
      .range(-2, 2)
      .range(-2, 2)
      .range(0.5, 2)
      .roundings(16)
      .reference([](const Arrays& in) {
        double s = 0;
        for (std::size_t i = 0; i < 12; ++i)
          s += (std::log(in[2][i]) + std::pow(in[0][i] - in[1][i], 2) / in[2][i]) / 2;
        return Arrays{{{}, {s / 12}}};
      })
      .error("negative", [] { F::gaussian_nll_loss(ebb::ones({2}), ebb::ones({2}), ebb::full({2}, -1.0)); });
}

}  // namespace

void register_functional() {
  family("nn");
  activations();
  norms();
  pools();
  resizes();
  bags();
  losses();
}

}  // namespace optable
