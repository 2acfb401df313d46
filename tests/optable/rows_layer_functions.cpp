// Poolings, losses and normalisations that came with further layers.
#include <ebb/nn/functional/pooling.h>
#include <ebb/nn/functional/triplet_loss.h>
#include <ebb/nn/functional/unpooling.h>
#include <ebb/ops/fractional_pool.h>

#include <algorithm>
#include <cmath>

#include "optable/reference.h"
#include "optable/table.h"

namespace optable {
namespace {

namespace F = ebb::nn::functional;

// Where a fractional pooling's window o begins.
std::int64_t begins(std::int64_t o, std::int64_t in, std::int64_t out, std::int64_t kernel, double u) {
  if (o == out - 1) return in - kernel;
  const double step = static_cast<double>(in - kernel) / static_cast<double>(out - 1);
  return static_cast<std::int64_t>(std::floor((static_cast<double>(o) + u) * step) - std::floor(u * step));
}

// The greatest of each window and its place; `samples` are the axes' numbers, the same for all planes.
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
  // The image's first number is the width's.
  row("fractional_max_pool2d",
      [](In x) {
        return list_of(ebb::fractional_max_pool2d(x[0], {2, 3}, {3, 4}, numbers(x[0], {0.25, 0.75})));
      })
      .shapes({{{1, 2, 5, 7}}})
      .reference(fractional({3, 4}, {2, 3}, {0.75, 0.25}))
      .error("may not exceed", [] {
        ebb::fractional_max_pool2d(ebb::ones({1, 1, 3, 3}), 2, 3, ebb::zeros({1, 1, 2}));
      });
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
      .error("output_ratio", [] {
        F::fractional_max_pool2d_with_indices(ebb::ones({1, 1, 3, 3}), {2});
      });
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
  unary("lp_pool3d",
        [](V x) {
          return F::lp_pool3d(x, F::LPPool3dFuncOptions(3, {1, 1, 2}));
        })
      .shapes({{{1, 2, 2, 1, 4}}})
      .range(0.5, 2)
      .roundings(8)
      .reference(built({1, 2, 2, 1, 2}, [](const Arrays& in, Index i) {
        i.back() *= 2;
        const double a = in[0](i);
        i.back() += 1;
        return std::cbrt(a * a * a + std::pow(in[0](i), 3));
      }));
  // Element k of each channel goes to place 5 - 2 k of 6 or 7.
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

void losses() {
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
      .error("same number of dimensions", [] {
        F::triplet_margin_with_distance_loss(ebb::ones({2}), ebb::ones({2}), ebb::ones({1, 2}));
      });
}

}  // namespace

void register_layer_functions() {
  family("nn");
  fractional_pools();
  unpools();
  losses();
}

}  // namespace optable
