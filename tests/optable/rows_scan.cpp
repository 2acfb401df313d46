// Softmax and running totals.
#include "optable/reference.h"
#include "optable/table.h"

#include <algorithm>
#include <cmath>

namespace optable {
namespace {

using Op = Variable (*)(V, std::int64_t dim);

void soft(Column& c) {
  double s = 0;
  for (const double v : c) s += std::exp(v);
  for (double& v : c) v = std::exp(v) / s;
}
void log_soft(Column& c) {
  soft(c);
  for (double& v : c) v = std::log(v);
}
void sums(Column& c) {
  for (std::size_t i = 1; i < c.size(); ++i) c[i] += c[i - 1];
}
void products(Column& c) {
  for (std::size_t i = 1; i < c.size(); ++i) c[i] *= c[i - 1];
}
void log_sums(Column& c) {
  for (std::size_t i = 1; i < c.size(); ++i) c[i] = std::log(std::exp(c[i]) + std::exp(c[i - 1]));
}
void most(Column& c) {
  for (std::size_t i = 1; i < c.size(); ++i) c[i] = std::max(c[i], c[i - 1]);
}
void least(Column& c) {
  for (std::size_t i = 1; i < c.size(); ++i) c[i] = std::min(c[i], c[i - 1]);
}
void differences(Column& c) {
  for (std::size_t i = 0; i + 1 < c.size(); ++i) c[i] = c[i + 1] - c[i];
  c.pop_back();
}

/// Rows of an op on lines, along the first dimension and along the last; returns the latter.
Row& lines(const std::string& name, Op f, void (*reference)(Column&), double roundings) {
  row(name + ".first", [f](In x) { return variable_list{f(x[0], 0)}; })
      .shapes({{{3, 4}}, {{4, 2, 2}}})
      .reference(along(0, reference))
      .roundings(roundings);
  return row(name, [f](In x) { return variable_list{f(x[0], -1)}; })
      .shapes({{{3, 4}}, {{2, 3, 5}}, {{6}}, {{}}, {{0, 3}}})
      .reference(along(9, reference))
      .roundings(roundings)
      .error("range", [f] { f(ebb::ones({3}), 2); });
}

void softmaxes() {
  lines(
      "softmax", [](V x, std::int64_t d) { return ebb::softmax(x, d); }, soft, 2);
  lines(
      "log_softmax", [](V x, std::int64_t d) { return ebb::log_softmax(x, d); }, log_soft, 4);
  lines(
      "_softmax", [](V x, std::int64_t d) { return ebb::_softmax(x, d, false); }, soft, 2);
  lines(
      "_log_softmax", [](V x, std::int64_t d) { return ebb::_log_softmax(x, d, false); }, log_soft, 4);
  binary("_softmax_backward_data",
         [](V g, V y) { return ebb::_softmax_backward_data(g, y, 1, y.scalar_type()); })
      .shapes({{{3, 4}, {3, 4}}})
      .roundings(4)
      .reference(built_like([](const Arrays& in, const Index& i) {
        double s = 0;
        for (std::int64_t k = 0; k < 4; ++k) s += in[0]({i[0], k}) * in[1]({i[0], k});
        return in[1](i) * (in[0](i) - s);
      }));
  binary("_log_softmax_backward_data",
         [](V g, V y) { return ebb::_log_softmax_backward_data(g, y, 1, y.scalar_type()); })
      .shapes({{{3, 4}, {3, 4}}})
      .roundings(4)
      .reference(built_like([](const Arrays& in, const Index& i) {
        double s = 0;
        for (std::int64_t k = 0; k < 4; ++k) s += in[0]({i[0], k});
        return in[0](i) - std::exp(in[1](i)) * s;
      }));
}

void scans() {
  lines(
      "cumsum", [](V x, std::int64_t d) { return ebb::cumsum(x, d); }, sums, 4)
      .in_place([](In x) { return ebb::cumsum_(x[0], -1); });
  lines(
      "cumprod", [](V x, std::int64_t d) { return ebb::cumprod(x, d); }, products, 4)
      .in_place([](In x) { return ebb::cumprod_(x[0], -1); });
  unary("cumprod.zeros", [](V x) { return ebb::cumprod(x, 1); })
      .shapes({{{2, 5}}})
      .special([](std::size_t, std::size_t) {
        return ebb::tensor({0.5, 0., -1.5, 2., 1.5, 1.5, 0., 0., 3., 0.5}, ebb::kF64).view({2, 5});
      })
      .roundings(4)
      .reference(along(1, products));
  lines(
      "logcumsumexp", [](V x, std::int64_t d) { return ebb::logcumsumexp(x, d); }, log_sums, 4);
  lines(
      "cummax", [](V x, std::int64_t d) { return std::get<0>(ebb::cummax(x, d)); }, most, 2);
  lines(
      "cummin", [](V x, std::int64_t d) { return std::get<0>(ebb::cummin(x, d)); }, least, 2);
  lines(
      "diff", [](V x, std::int64_t d) { return ebb::diff(x, 1, d); }, differences, 2)
      .shapes({{{3, 4}}, {{2, 3, 5}}, {{6}}});
  row("diff.longer", [](In x) { return variable_list{ebb::diff(x[0], 2, 1, x[1], x[2])}; })
      .shapes({{{3, 4}, {3, 1}, {3, 2}}})
      .roundings(4)
      .reference(built({3, 5}, [](const Arrays& in, const Index& i) {
        const auto at = [&](std::int64_t k) {
          return k < 1 ? in[1]({i[0], k}) : k < 5 ? in[0]({i[0], k - 1}) : in[2]({i[0], k - 5});
        };
        return at(i[1] + 2) - 2 * at(i[1] + 1) + at(i[1]);
      }));
  for (const bool reverse : {false, true})
    row(reverse ? "linear_recurrence.reverse" : "linear_recurrence",
        [reverse](In x) { return variable_list{ebb::linear_recurrence(x[0], x[1], 1, reverse)}; })
        .shapes({{{3, 4}, {3, 3}}})
        .roundings(4)
        .reference([reverse](const Arrays& in) {
          Array y = in[0];
          for (std::size_t r = 0; r < 3; ++r)
            for (std::size_t i = 1; i < 4; ++i) {
              const std::size_t at = r * 4 + (reverse ? 3 - i : i), from = reverse ? at + 1 : at - 1;
              y.values[at] += in[1][r * 3 + (reverse ? 3 - i : i - 1)] * y.values[from];
            }
          return Arrays{y};
        })
        .error("linear_recurrence", [] { ebb::linear_recurrence(ebb::ones({3}), ebb::ones({3}), 0); });
}

}  // namespace

void register_scan() {
  family("softmax");
  softmaxes();
  family("scan");
  scans();
}

}  // namespace optable
