// Rows of normalisations, and of distances based on norms.
#include "optable/reference.h"
#include "optable/table.h"

#include <cmath>

namespace optable {
namespace {

/// Computes (x - mean) / sqrt(variance + 1e-5) * weight + bias: `cell` numbers the sets of elements that are
/// normalised together, `place` those of weight and bias.
Row::Reference normalised(std::int64_t (*cell)(const Index&), std::int64_t (*place)(const Index&)) {
  return [=](const Arrays& in) {
    std::vector<Column> cells;
    const auto gather = [&](const Index& i) {
      const std::size_t c = static_cast<std::size_t>(cell(i));
      if (cells.size() <= c) cells.resize(c + 1);
      cells[c].push_back(in[0](i));
      return 0;
    };
    build(in[0].sizes, gather);
    return Arrays{build(in[0].sizes, [&](const Index& i) {
      const Column& c = cells[static_cast<std::size_t>(cell(i))];
      const std::size_t p = static_cast<std::size_t>(place(i));
      const double n = static_cast<double>(c.size()), biased = spread(c) * (n - 1) / n;
      return (in[0](i) - average(c)) / std::sqrt(biased + 1e-5) * in[1][p] + in[2][p];
    })};
  };
}

Row& norm(const char* name, Variable (*f)(V, V, V), Sizes x, Sizes w) {
  // The gradients divide by the deviation of few values, and those of the weights are summed over all
  // samples.
  return row(name, [f](In v) { return variable_list{f(v[0], v[1], v[2])}; }).shapes({{x, w, w}}).roundings(8);
}

std::int64_t channel(const Index& i) { return i[1]; }
std::int64_t last_of_three(const Index& i) { return i[2]; }
std::int64_t line_of_three(const Index& i) { return i[0] * 3 + i[1]; }

/// RMS norm of lines of 4.
Array scaled_to_one(const Array& x, const Array& weight) {
  return build(x.sizes, [&](const Index& i) {
    double squares = 0;
    for (std::int64_t k = 0; k < 4; ++k) squares += std::pow(x({i[0], i[1], k}), 2);
    return x(i) / std::sqrt(squares / 4 + 1e-5) * weight[static_cast<std::size_t>(i[2])];
  });
}
Array added(const Arrays& in) {
  return build(in[0].sizes, [&](const Index& i) { return in[0](i) + in[1](i); });
}

variable_list first_of(std::tuple<Variable, Variable, Variable> t) { return {std::get<0>(t)}; }

}  // namespace

void register_norm() {
  family("norm");
  norm("layer_norm", [](V x, V w, V b) { return ebb::layer_norm(x, {4}, w, b); }, {2, 3, 4}, {4})
      .reference(normalised(line_of_three, last_of_three))
      .error("layer_norm", [] { ebb::layer_norm(ebb::ones({2, 3}), {4}); });
  norm("layer_norm.two",
       [](V x, V w, V b) { return ebb::layer_norm(x, {3, 4}, w.view({3, 4}), b.view({3, 4})); }, {2, 3, 4},
       {12})
      .reference(
          normalised([](const Index& i) { return i[0]; }, [](const Index& i) { return i[1] * 4 + i[2]; }));
  row("native_layer_norm", [](In x) { return first_of(ebb::native_layer_norm(x[0], {4}, x[1], x[2], 1e-5)); })
      .shapes({{{2, 3, 4}, {4}, {4}}})
      .roundings(8)
      .reference(normalised(line_of_three, last_of_three));
  row("rms_norm", [](In x) { return variable_list{ebb::rms_norm(x[0], {4}, x[1], 1e-5)}; })
      .shapes({{{2, 3, 4}, {4}}})
      .roundings(8)
      .reference([](const Arrays& in) { return Arrays{scaled_to_one(in[0], in[1])}; })
      .error("rms_norm", [] { ebb::rms_norm(ebb::ones({2, 3}), {4}); });
  row("add_layer_norm",
      [](In x) {
        auto [y, sum] = ebb::add_layer_norm(x[0], x[1], {4}, x[2], x[3]);
        return variable_list{y, sum};
      })
      .shapes({{{2, 3, 4}, {2, 3, 4}, {4}, {4}}})
      .roundings(8)
      .reference([](const Arrays& in) {
        const Array sum = added(in);
        return Arrays{normalised(line_of_three, last_of_three)({sum, in[2], in[3]})[0], sum};
      })
      .error("add_layer_norm", [] { ebb::add_layer_norm(ebb::ones({2, 3}), ebb::ones({3}), {3}); });
  row("add_rms_norm",
      [](In x) {
        auto [y, sum] = ebb::add_rms_norm(x[0], x[1], {4}, x[2], 1e-5);
        return variable_list{y, sum};
      })
      .shapes({{{2, 3, 4}, {2, 3, 4}, {4}}})
      .roundings(8)
      .reference([](const Arrays& in) {
        const Array sum = added(in);
        return Arrays{scaled_to_one(sum, in[2]), sum};
      })
      .error("add_rms_norm",
             [] { ebb::add_rms_norm(ebb::ones({2, 3}), ebb::ones({2, 3}, ebb::kDouble), {3}); });
  norm("batch_norm", [](V x, V w, V b) { return ebb::batch_norm(x, w, b, {}, {}, true, 0.1, 1e-5); },
       {4, 3, 2}, {3})
      .reference(normalised(channel, channel))
      .error("batch_norm",
             [] { ebb::batch_norm(ebb::ones({2, 3}), ebb::ones({2}), {}, {}, {}, true, 0.1, 1e-5); });
  row("native_batch_norm",
      [](In x) { return first_of(ebb::native_batch_norm(x[0], x[1], x[2], {}, {}, true, 0.1, 1e-5)); })
      .shapes({{{4, 3, 2}, {3}, {3}}})
      .roundings(8)
      .reference(normalised(channel, channel));
  row("batch_norm.evaluation",
      [](In x) { return variable_list{ebb::batch_norm(x[0], x[1], x[2], x[3], x[4], false, 0.1, 1e-5)}; })
      .shapes({{{4, 3, 2}, {3}, {3}, {3}, {3}}})
      .range(-2, 2)
      .range(-2, 2)
      .range(-2, 2)
      .range(-2, 2)
      .range(0.5, 2)
      .constant(3)
      .constant(4)
      .roundings(8)
      .reference(built_like([](const Arrays& in, const Index& i) {
        const std::size_t c = static_cast<std::size_t>(i[1]);
        return (in[0](i) - in[3][c]) / std::sqrt(in[4][c] + 1e-5) * in[1][c] + in[2][c];
      }));
  norm("group_norm", [](V x, V w, V b) { return ebb::group_norm(x, 2, w, b); }, {2, 4, 3}, {4})
      .reference(normalised([](const Index& i) { return i[0] * 2 + i[1] / 2; }, channel))
      .error("group_norm", [] { ebb::group_norm(ebb::ones({2, 3, 2}), 2); });
  norm("instance_norm", [](V x, V w, V b) { return ebb::instance_norm(x, w, b, {}, {}, true, 0.1, 1e-5); },
       {2, 3, 4}, {3})
      .reference(normalised(line_of_three, channel));
  binary("cosine_similarity", [](V a, V b) { return ebb::cosine_similarity(a, b); })
      .shapes({{{3, 4}, {3, 4}}})
      .roundings(4)
      .reference(built({3}, [](const Arrays& in, const Index& i) {
        double ab = 0, aa = 0, bb = 0;
        for (std::int64_t k = 0; k < 4; ++k) {
          const double a = in[0]({i[0], k}), b = in[1]({i[0], k});
          ab += a * b, aa += a * a, bb += b * b;
        }
        return ab / std::sqrt(aa * bb);
      }));
  binary("pairwise_distance", [](V a, V b) { return ebb::pairwise_distance(a, b); })
      .shapes({{{3, 4}, {3, 4}}})
      .roundings(4)
      .reference(built({3}, [](const Arrays& in, const Index& i) {
        double s = 0;
        for (std::int64_t k = 0; k < 4; ++k) s += std::pow(in[0]({i[0], k}) - in[1]({i[0], k}) + 1e-6, 2);
        return std::sqrt(s);
      }));
}

}  // namespace optable
