// Rows of functions of nn::functional with their own formulas: pooling, losses and normalisations.
#include <ebb/core/random.h>
#include <ebb/nn/functional/activation.h>
#include <ebb/nn/functional/dropout.h>
#include <ebb/nn/functional/embedding.h>
#include <ebb/nn/functional/loss.h>
#include <ebb/nn/functional/norm.h>
#include <ebb/nn/functional/padding.h>
#include <ebb/nn/functional/pooling.h>
#include <ebb/nn/functional/triplet_loss.h>
#include <ebb/nn/functional/unpooling.h>
#include <ebb/ops/pool.h>

#include "optable/reference.h"
#include "optable/table.h"

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
      .no_reference("tests/nn check the drawn numbers")
      .double_only("each dtype draws other numbers")
      .no_layouts("numbers are drawn in memory order")
      .cpu_only("each device draws other numbers");
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
      .error("local_response_norm", [] { F::local_response_norm(ebb::ones({2, 2}), 3); });
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

// Returns (x0^3 + x1^3)^(1/3) of pairs along the last axis, which is the only one with windows larger than
// one.
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
  unary("lp_pool2d", [](V x) { return F::lp_pool2d(x, F::LPPool2dFuncOptions(3, {1, 2})); })
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

/// Resizes the last two axes from n to m elements with weights(m, n, o, i), which sum to 1 over i.
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
// Returns the linear weight of element i for the sample position of o, with clamped ends.
double hat(std::int64_t m, std::int64_t n, std::int64_t o, std::int64_t i) {
  const double at = (static_cast<double>(o) + 0.5) * static_cast<double>(n) / static_cast<double>(m) - 0.5;
  const double inside = std::clamp(at, 0.0, static_cast<double>(n - 1));
  return std::max(0.0, 1 - std::fabs(inside - static_cast<double>(i)));
}
double hat_of_corners(std::int64_t m, std::int64_t n, std::int64_t o, std::int64_t i) {
  const double at = static_cast<double>(o * (n - 1)) / static_cast<double>(m - 1);
  return std::max(0.0, 1 - std::fabs(at - static_cast<double>(i)));
}
double keys(double x) {  // cubic convolution of Keys with a = -0.75
  x = std::fabs(x);
  return x <= 1 ? (1.25 * x - 2.25) * x * x + 1 : x < 2 ? -0.75 * (((x - 5) * x + 8) * x - 4) : 0;
}
double cubic(std::int64_t m, std::int64_t n, std::int64_t o, std::int64_t i) {
  const double at = (static_cast<double>(o) + 0.5) * static_cast<double>(n) / static_cast<double>(m) - 0.5;
  double w = keys(at - static_cast<double>(i));
  for (std::int64_t out = 1; out < 4; ++out) {  // elements outside are the nearest ones inside
    if (i == 0) w += keys(at + static_cast<double>(out));
    if (i == n - 1) w += keys(at - static_cast<double>(n - 1 + out));
  }
  return w;
}

void resizes() {
  resized_to("interpolate", [](V x) { return F::interpolate(x, resize({3, 5}).mode(ebb::kNearest)); },
             {1, 2, 2, 3})
      .reference(resampled({1, 2, 3, 5}, nearest))
      .error("align_corners", [] {
        F::interpolate(ebb::ones({1, 1, 2}),
                       F::InterpolateFuncOptions().size(std::vector<std::int64_t>{4}).align_corners(true));
      });
  resized_to("interpolate.bilinear",
             [](V x) { return F::interpolate(x, resize({3, 5}).mode(ebb::kBilinear)); }, {1, 2, 2, 3})
      .reference(resampled({1, 2, 3, 5}, hat));
  resized_to("interpolate.corners",
             [](V x) { return F::interpolate(x, resize({3, 5}).mode(ebb::kBilinear).align_corners(true)); },
             {1, 2, 2, 3})
      .reference(resampled({1, 2, 3, 5}, hat_of_corners));
  resized_to("interpolate.bicubic", [](V x) { return F::interpolate(x, resize({5, 6}).mode(ebb::kBicubic)); },
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

// Pooling, losses and normalisations of further layers.

namespace {

namespace F = ebb::nn::functional;

// Returns the first position of window o of a fractional pooling.
std::int64_t begins(std::int64_t o, std::int64_t in, std::int64_t out, std::int64_t kernel, double u) {
  if (o == out - 1) return in - kernel;
  const double step = static_cast<double>(in - kernel) / static_cast<double>(out - 1);
  return static_cast<std::int64_t>(std::floor((static_cast<double>(o) + u) * step) - std::floor(u * step));
}

// Returns the maximum of each window and its index; `samples` are the random numbers of the axes, equal for
// all planes.
Row::Reference fractional(Sizes out, Sizes kernel, std::vector<double> samples) {
  return [=](const Arrays& in) {
    const Array& x = in[0];
    Sizes sizes{x.sizes[0], x.sizes[1]};
    sizes.insert(sizes.end(), out.begin(), out.end());
    const auto search = [&](const Index& o, bool place) {
      double most = -INFINITY, at = 0;
      Sizes cube{1, 1};
      cube.insert(cube.end(), kernel.begin(), kernel.end());
      build(cube, [&](Index k) {
        std::int64_t flat = 0;
        k[0] = o[0], k[1] = o[1];
        for (std::size_t d = 2; d < k.size(); ++d) {
          k[d] += begins(o[d], x.sizes[d], out[d - 2], kernel[d - 2], samples[d - 2]);
          flat = flat * x.sizes[d] + k[d];
        }
        if (x(k) > most) most = x(k), at = static_cast<double>(flat);
        return 0;
      });
      return place ? at : most;
    };
    return Arrays{build(sizes, [&](const Index& o) { return search(o, false); }),
                  build(sizes, [&](const Index& o) { return search(o, true); })};
  };
}

variable_list list_of(const std::tuple<Variable, Variable>& t) { return {std::get<0>(t), std::get<1>(t)}; }

Variable numbers(V x, std::vector<double> values) {
  const auto n = static_cast<std::int64_t>(values.size());
  return ebb::stack({ebb::full({2}, values[0], x.options().requires_grad(false)),
                     ebb::full({2}, values[1], x.options().requires_grad(false)),
                     ebb::full({2}, values.back(), x.options().requires_grad(false))},
                    1)
      .slice(1, 0, n)
      .unsqueeze(0);
}

void fractional_pools() {
  // The first random number of the image is that of the width.
  row("fractional_max_pool2d",
      [](In x) {
        return list_of(ebb::fractional_max_pool2d(x[0], {2, 3}, {3, 4}, numbers(x[0], {0.25, 0.75})));
      })
      .shapes({{{1, 2, 5, 7}}})
      .reference(fractional({3, 4}, {2, 3}, {0.75, 0.25}))
      .error("may not exceed",
             [] { ebb::fractional_max_pool2d(ebb::ones({1, 1, 3, 3}), 2, 3, ebb::zeros({1, 1, 2})); });
  row("fractional_max_pool3d",
      [](In x) {
        return list_of(
            ebb::fractional_max_pool3d(x[0], {1, 2, 3}, {2, 2, 2}, numbers(x[0], {0.25, 0.75, 0.5})));
      })
      .shapes({{{1, 2, 3, 4, 5}}})
      .reference(fractional({2, 2, 2}, {1, 2, 3}, {0.25, 0.75, 0.5}));
  row("fractional_max_pool2d_with_indices",
      [](In x) {
        return list_of(
            F::fractional_max_pool2d_with_indices(x[0], F::FractionalMaxPool2dFuncOptions({2, 3})
                                                            .output_ratio(std::vector<double>{0.7, 0.6})
                                                            ._random_samples(numbers(x[0], {0.25, 0.75}))));
      })
      .shapes({{{1, 2, 5, 7}}})
      .reference(fractional({3, 4}, {2, 3}, {0.75, 0.25}))
      .error("output_ratio", [] { F::fractional_max_pool2d_with_indices(ebb::ones({1, 1, 3, 3}), {2}); });
  row("fractional_max_pool3d_with_indices",
      [](In x) {
        return list_of(F::fractional_max_pool3d_with_indices(
            x[0], F::FractionalMaxPool3dFuncOptions({1, 2, 3})
                      .output_size(ebb::ExpandingArray<3>(2))
                      ._random_samples(numbers(x[0], {0.25, 0.75, 0.5}))));
      })
      .shapes({{{1, 2, 3, 4, 5}}})
      .reference(fractional({2, 2, 2}, {1, 2, 3}, {0.25, 0.75, 0.5}));
}

void unpools() {
  unary("lp_pool3d", [](V x) { return F::lp_pool3d(x, F::LPPool3dFuncOptions(3, {1, 1, 2})); })
      .shapes({{{1, 2, 2, 1, 4}}})
      .range(0.5, 2)
      .roundings(8)
      .reference(built({1, 2, 2, 1, 2}, [](const Arrays& in, Index i) {
        i.back() *= 2;
        const double a = in[0](i);
        i.back() += 1;
        return std::cbrt(a * a * a + std::pow(in[0](i), 3));
      }));
  // Element k of each channel is written to position 5 - 2 k of 6 or 7.
  row("max_unpool1d",
      [](In x) {
        return variable_list{
            F::max_unpool1d(x[0], x[1].view(x[0].sizes()),
                            F::MaxUnpool1dFuncOptions(2).output_size(std::vector<std::int64_t>{7}))};
      })
      .shapes({{{1, 2, 3}, {6}}})
      .special([](std::size_t, std::size_t input) {
        return input == 1 ? ebb::tensor({5, 3, 1, 5, 3, 1}, ebb::kLong) : Variable();
      })
      .reference(built({1, 2, 7},
                       [](const Arrays& in, const Index& i) {
                         return i[2] % 2 == 1 && i[2] < 6
                                    ? in[0][static_cast<std::size_t>(3 * i[1] + (5 - i[2]) / 2)]
                                    : 0;
                       }))
      .error("invalid output_size", [] {
        F::max_unpool1d(ebb::ones({1, 1, 3}), ebb::zeros({1, 1, 3}, ebb::kLong),
                        F::MaxUnpool1dFuncOptions(2).output_size(std::vector<std::int64_t>{9}));
      });
}

void layer_losses() {
  row("triplet_margin_with_distance_loss",
      [](In x) {
        return variable_list{F::triplet_margin_with_distance_loss(
            x[0], x[1], x[2],
            F::TripletMarginWithDistanceLossFuncOptions()
                .distance_function([](V a, V b) { return (a - b).pow(2).sum(-1); })
                .margin(9)
                .swap(true)
                .reduction(ebb::kSum))};
      })
      .shapes({{{3, 4}, {3, 4}, {3, 4}}})
      .range(-1, 1)
      .roundings(16)
      .reference([](const Arrays& in) {
        const auto distance = [&](std::size_t a, std::size_t b, std::int64_t i) {
          double s = 0;
          for (std::int64_t k = 0; k < 4; ++k) s += std::pow(in[a]({i, k}) - in[b]({i, k}), 2);
          return s;
        };
        double sum = 0;
        for (std::int64_t i = 0; i < 3; ++i)
          sum += std::max(distance(0, 1, i) - std::min(distance(0, 2, i), distance(1, 2, i)) + 9, 0.0);
        return Arrays{{{}, {sum}}};
      })
      .error("same number of dimensions",
             [] { F::triplet_margin_with_distance_loss(ebb::ones({2}), ebb::ones({2}), ebb::ones({1, 2})); });
}

}  // namespace

void register_layer_functions() {
  family("nn");
  fractional_pools();
  unpools();
  layer_losses();
}

}  // namespace optable
