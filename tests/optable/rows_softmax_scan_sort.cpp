// Softmax, running totals, orders.
#include "optable/rows.h"

#include <algorithm>
#include <cmath>

namespace optable {
namespace {

using In = const variable_list&;
using V = const Variable&;
using Arrays = std::vector<Array>;
using Column = std::vector<double>;

/// f of every row of the last dimension, in place.
Row::Reference last(void (*f)(Column&)) {
  return [f](const Arrays& in) {
    Array out = in[0];
    const std::size_t n = static_cast<std::size_t>(out.sizes.back());
    for (std::size_t at = 0; at + n <= out.values.size(); at += n) {
      Column c(out.values.begin() + static_cast<long>(at), out.values.begin() + static_cast<long>(at + n));
      f(c);
      std::copy(c.begin(), c.end(), out.values.begin() + static_cast<long>(at));
    }
    return Arrays{out};
  };
}

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
void sorted(Column& c) { std::sort(c.begin(), c.end()); }

Row& rowwise(const char* name, Variable (*f)(V), void (*reference)(Column&)) {
  return unary(name, f).shapes({{{3, 4}}, {{2, 3, 5}}, {{6}}}).reference(last(reference));
}

}  // namespace

void register_softmax_scan_sort() {
  rowwise(
      "softmax", [](V x) { return ebb::softmax(x, -1); }, soft)
      .error("range", [] { ebb::softmax(ebb::ones({3}), 2); });
  rowwise(
      "log_softmax", [](V x) { return ebb::log_softmax(x, -1); }, log_soft);
  unary("softmax.first", [](V x) { return ebb::softmax(x, 0); }).shapes({{{3, 4}}, {{2, 3, 2}}});
  unary("log_softmax.first", [](V x) { return ebb::log_softmax(x, 0); }).shapes({{{3, 4}}, {{2, 3, 2}}});
  rowwise(
      "cumsum", [](V x) { return ebb::cumsum(x, -1); }, sums);
  rowwise(
      "cumprod", [](V x) { return ebb::cumprod(x, -1); }, products);
  rowwise(
      "logcumsumexp", [](V x) { return ebb::logcumsumexp(x, -1); }, log_sums);
  rowwise(
      "cummax", [](V x) { return std::get<0>(ebb::cummax(x, -1)); }, most);
  rowwise(
      "cummin", [](V x) { return std::get<0>(ebb::cummin(x, -1)); }, least);
  unary("diff", [](V x) { return ebb::diff(x); }).shapes({{{3, 4}}});
  rowwise(
      "sort", [](V x) { return std::get<0>(ebb::sort(x)); }, sorted);
  unary("msort", ebb::msort).shapes({{{3, 4}}});
  unary("argsort", [](V x) { return ebb::argsort(x); }).shapes({{{3, 4}}}).order(0, "places have no slope");
  unary("topk", [](V x) { return std::get<0>(ebb::topk(x, 2)); }).shapes({{{3, 4}}}).error("range", [] {
    ebb::topk(ebb::ones({3}), 5);
  });
  unary("kthvalue", [](V x) { return std::get<0>(ebb::kthvalue(x, 2)); }).shapes({{{3, 4}}});
  unary("median", [](V x) { return ebb::median(x); }).shapes({{{3, 3}}, {{3, 4}}});
  unary("median.dim", [](V x) { return std::get<0>(ebb::median(x, 1)); }).shapes({{{3, 3}}});
  unary("quantile", [](V x) { return ebb::quantile(x, 0.3, 1); }).shapes({{{3, 4}}});
}

}  // namespace optable
