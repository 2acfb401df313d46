// Rows of the native_ functions of ATen.
#include <ebb/ops/conv.h>
#include <ebb/ops/index.h>
#include <ebb/ops/norm.h>
#include <ebb/ops/random.h>
#include <ebb/ops/shape.h>

#include "optable/reference.h"
#include "optable/table.h"

#include <algorithm>
#include <cmath>

namespace optable {
namespace {

void norms() {
  row("native_group_norm",
      [](In x) {
        const auto [y, mean, rstd] = ebb::native_group_norm(x[0], x[1], x[2], 2, 4, 3, 2, 1e-5);
        return variable_list{y};
      })
      .shapes({{{2, 4, 3}, {4}, {4}}})
      .roundings(8)
      .reference([](const Arrays& in) {
        const auto moment = [&](std::int64_t n, std::int64_t g, bool variance) {
          double mean = 0, squares = 0;
          for (std::int64_t c = 2 * g; c < 2 * g + 2; ++c)
            for (std::int64_t k = 0; k < 3; ++k)
              mean += in[0]({n, c, k}) / 6, squares += std::pow(in[0]({n, c, k}), 2) / 6;
          return variance ? 1 / std::sqrt(squares - mean * mean + 1e-5) : mean;
        };
        return Arrays{build({2, 4, 3}, [&](const Index& i) {
          return (in[0](i) - moment(i[0], i[1] / 2, false)) * moment(i[0], i[1] / 2, true) * in[1]({i[1]}) +
                 in[2]({i[1]});
        })};
      })
      .error("sizes of the input",
             [] { ebb::native_group_norm(ebb::ones({2, 4, 3}), {}, {}, 2, 4, 2, 2, 1e-5); });
  row("native_group_norm.statistics",
      [](In x) {
        const auto [y, mean, rstd] = ebb::native_group_norm(x[0], {}, {}, 2, 4, 3, 4, 1e-5);
        return variable_list{mean, rstd};
      })
      .shapes({{{2, 4, 3}}})
      .order(0, "statistics have no gradient")
      .no_half("the result is then Float")
      .reference([](const Arrays& in) {
        const auto moment = [&](const Index& i, bool variance) {
          double mean = 0, squares = 0;
          for (std::int64_t k = 0; k < 3; ++k)
            mean += in[0]({i[0], i[1], k}) / 3, squares += std::pow(in[0]({i[0], i[1], k}), 2) / 3;
          return variance ? 1 / std::sqrt(squares - mean * mean + 1e-5) : mean;
        };
        return Arrays{build({2, 4}, [&](const Index& i) { return moment(i, false); }),
                      build({2, 4}, [&](const Index& i) { return moment(i, true); })};
      });
  unary("native_norm", [](V x) { return ebb::native_norm(x); }).shapes({{{3, 4}}}).reference(whole(length));
  unary("native_norm.dim", [](V x) { return ebb::native_norm(x, ebb::Scalar(2), 1, false, ebb::nullopt); })
      .shapes({{{3, 4}}})
      .reference(over(1, length));
  unary("norm_except_dim", [](V x) { return ebb::norm_except_dim(x, 2, 1); })
      .shapes({{{3, 2, 4}}})
      .reference(built({1, 2, 1},
                       [](const Arrays& in, const Index& i) {
                         double s = 0;
                         for (std::int64_t a = 0; a < 3; ++a)
                           for (std::int64_t b = 0; b < 4; ++b) s += std::pow(in[0]({a, i[1], b}), 2);
                         return std::sqrt(s);
                       }))
      .error("norm_except_dim", [] { ebb::norm_except_dim(ebb::ones({2}), 2, 3); });
}

void draws() {
  row("native_dropout",
      [](In x) {
        const auto [y, kept] = ebb::native_dropout(x[0], 0, true);
        return variable_list{y, kept};
      })
      .shapes({{{3, 4}}})
      .reference(
          [](const Arrays& in) { return Arrays{in[0], build({3, 4}, [](const Index&) { return 1.0; })}; })
      .error("between 0 and 1", [] { ebb::native_dropout(ebb::ones({2}), 2, true); });
  const auto leaky = [](double x) { return x > 0 ? x : 0.2 * x; };
  unary("rrelu_with_noise",
        [](V x) { return ebb::rrelu_with_noise(x, ebb::ones_like(x.detach()), 0.1, 0.3); })
      .in_place([](In x) { return ebb::rrelu_with_noise_(x[0], ebb::ones_like(x[0].detach()), 0.1, 0.3); })
      .kinks({0})
      .reference(+leaky)
      .error("lower", [] { ebb::rrelu_with_noise(ebb::ones({2}), ebb::ones({2}), 1, 0); });
  // With equal bounds, the slope is not random.
  row("rrelu_with_noise_functional",
      [](In x) {
        const auto [y, noise] =
            ebb::rrelu_with_noise_functional(x[0], ebb::zeros_like(x[0].detach()), 0.25, 0.25, true);
        return variable_list{y, noise};
      })
      .shapes({{{3, 4}}})
      .kinks({0})
      .cpu_only("the host reads the elements for which numbers are drawn")
      .reference([](const Arrays& in) {
        return Arrays{build({3, 4}, [&](const Index& i) { return in[0](i) * (in[0](i) > 0 ? 1 : 0.25); }),
                      build({3, 4}, [&](const Index& i) { return in[0](i) > 0 ? 1 : 0.25; })};
      });
}

void layouts() {
  unary("native_channel_shuffle", [](V x) { return ebb::native_channel_shuffle(x, 2); })
      .shapes({{{1, 4, 2}}})
      .reference(picked({1, 4, 2}, [](const Index& i) { return Index{0, i[1] % 2 * 2 + i[1] / 2, i[2]}; }));
  row("conv_tbc", [](In x) { return variable_list{ebb::conv_tbc(x[0], x[1], x[2], 1)}; })
      .shapes({{{4, 2, 3}, {3, 3, 2}, {2}}})
      .range(-1, 1)
      .roundings(8)
      .reference(built({4, 2, 2},
                       [](const Arrays& in, const Index& i) {
                         double s = in[2]({i[2]});
                         for (std::int64_t k = 0; k < 3; ++k)
                           for (std::int64_t c = 0; c < 3; ++c) {
                             const std::int64_t t = i[0] + k - 1;
                             if (t >= 0 && t < 4) s += in[0]({t, i[1], c}) * in[1]({k, c, i[2]});
                           }
                         return s;
                       }))
      .error("3 dims", [] { ebb::conv_tbc(ebb::ones({2, 2}), ebb::ones({1, 2, 2}), ebb::ones({2})); });
  row("conv_depthwise3d",
      [](In x) { return variable_list{ebb::conv_depthwise3d(x[0], x[1], {1, 2, 2}, {}, 1, 0, 1)}; })
      .shapes({{{1, 2, 2, 3, 3}, {2, 1, 1, 2, 2}}})
      .range(-1, 1)
      .roundings(8)
      .reference(built({1, 2, 2, 2, 2},
                       [](const Arrays& in, const Index& i) {
                         double s = 0;
                         for (std::int64_t y = 0; y < 2; ++y)
                           for (std::int64_t x = 0; x < 2; ++x)
                             s += in[0]({0, i[1], i[2], i[3] + y, i[4] + x}) * in[1]({i[1], 0, 0, y, x});
                         return s;
                       }))
      .error("kernel_size", [] {
        ebb::conv_depthwise3d(ebb::ones({1, 1, 2, 2, 2}), ebb::ones({1, 1, 1, 1, 1}), 2, {}, 1, 0, 1);
      });
  const auto renormed = [](const char* name, Variable (*f)(V, V)) -> Row& {
    return row(name, [f](In x) { return variable_list{f(x[0], x[1])}; })
        .shapes({{{4, 3}, {2}}})
        .special([](std::size_t, std::size_t input) {
          return input == 1 ? ebb::tensor({2, 0}, ebb::kLong) : Variable();
        })
        .order(0, "it modifies a table without recording")
        .roundings(8)
        .reference([](const Arrays& in) {
          return Arrays{build({4, 3}, [&](const Index& i) {
            Column row;
            for (std::int64_t k = 0; k < 3; ++k) row.push_back(in[0]({i[0], k}));
            const double n = length(row);
            return i[0] % 2 == 0 && n > 0.5 ? in[0](i) * 0.5 / (n + 1e-7) : in[0](i);
          })};
        });
  };
  renormed("embedding_renorm", [](V x, V at) {
    return ebb::embedding_renorm(x, at, 0.5, 2);
  }).error("embedding_renorm_", [] {
    ebb::embedding_renorm(ebb::ones({2}), ebb::zeros({1}, ebb::kLong), 1, 2);
  });
  renormed("embedding_renorm_", [](V x, V at) {
    const Variable table = x.detach().clone();
    return Variable(ebb::embedding_renorm_(table, at, 0.5, 2));
  });
}

}  // namespace

void register_native() {
  family("nn");
  norms();
  draws();
  layouts();
}

}  // namespace optable
