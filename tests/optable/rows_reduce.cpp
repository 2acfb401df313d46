// Reductions.
#include "optable/rows.h"

#include <cmath>

namespace optable {
namespace {

using In = const variable_list&;
using V = const Variable&;
using Arrays = std::vector<Array>;

const char* const kPlaces = "places have no slope";

/// f of all elements; as of a reduction without dim.
Row::Reference whole(double (*f)(const std::vector<double>&)) {
  return [f](const Arrays& in) { return Arrays{{{}, {f(in[0].values)}}}; };
}

/// f of every column over dimension 1 of a (a, n, b).
Row::Reference middle(double (*f)(const std::vector<double>&)) {
  return [f](const Arrays& in) {
    const auto a = in[0].sizes[0], n = in[0].sizes[1], b = in[0].sizes.size() > 2 ? in[0].sizes[2] : 1;
    Array out{{a}, {}};
    if (in[0].sizes.size() > 2) out.sizes.push_back(b);
    for (std::int64_t i = 0; i < a; ++i)
      for (std::int64_t k = 0; k < b; ++k) {
        std::vector<double> column;
        for (std::int64_t j = 0; j < n; ++j)
          column.push_back(in[0][static_cast<std::size_t>((i * n + j) * b + k)]);
        out.values.push_back(f(column));
      }
    return Arrays{out};
  };
}

double total(const std::vector<double>& x) {
  double s = 0;
  for (const double v : x) s += v;
  return s;
}
double average(const std::vector<double>& x) { return total(x) / static_cast<double>(x.size()); }
double product(const std::vector<double>& x) {
  double p = 1;
  for (const double v : x) p *= v;
  return p;
}
double spread(const std::vector<double>& x) {
  const double m = average(x);
  double s = 0;
  for (const double v : x) s += (v - m) * (v - m);
  return s / static_cast<double>(x.size() - 1);
}
double deviation(const std::vector<double>& x) { return std::sqrt(spread(x)); }
double length(const std::vector<double>& x) {
  double s = 0;
  for (const double v : x) s += v * v;
  return std::sqrt(s);
}
double largest(const std::vector<double>& x) {
  double m = x[0];
  for (const double v : x) m = v > m ? v : m;
  return m;
}
double smallest(const std::vector<double>& x) {
  double m = x[0];
  for (const double v : x) m = v < m ? v : m;
  return m;
}
double log_sum_exp(const std::vector<double>& x) {
  double s = 0;
  for (const double v : x) s += std::exp(v);
  return std::log(s);
}

/// Rows of an op without dim and over dimension 1.
void both(const std::string& name, Variable (*all)(V), Variable (*dim)(V),
          double (*f)(const std::vector<double>&)) {
  unary(name, all).shapes({{{3, 4}}, {{2, 3, 2}}, {{5}}}).reference(whole(f));
  unary(name + ".dim", dim).shapes({{{2, 3, 4}}, {{3, 5}}}).reference(middle(f)).error("range", [dim] {
    dim(ebb::ones({3}));
  });
}

void averages() {
  both(
      "sum", [](V x) { return ebb::sum(x); }, [](V x) { return ebb::sum(x, 1); }, total);
  both(
      "mean", [](V x) { return ebb::mean(x); }, [](V x) { return ebb::mean(x, 1); }, average);
  both(
      "prod", [](V x) { return ebb::prod(x); }, [](V x) { return ebb::prod(x, 1); }, product);
  both(
      "var", [](V x) { return ebb::var(x); }, [](V x) { return ebb::var(x, ebb::IntArrayRef(1)); }, spread);
  both(
      "std", [](V x) { return ebb::std(x); }, [](V x) { return ebb::std(x, ebb::IntArrayRef(1)); },
      deviation);
  both(
      "norm", [](V x) { return ebb::norm(x); }, [](V x) { return ebb::norm(x, 2, 1); }, length);
  both(
      "nansum", [](V x) { return ebb::nansum(x); }, [](V x) { return ebb::nansum(x, 1); }, total);
  both(
      "nanmean", [](V x) { return ebb::nanmean(x); }, [](V x) { return ebb::nanmean(x, 1); }, average);
  both(
      "linalg_vector_norm", [](V x) { return ebb::linalg_vector_norm(x); },
      [](V x) { return ebb::linalg_vector_norm(x, 2, 1); }, length);
  unary("logsumexp", [](V x) { return ebb::logsumexp(x, 1); })
      .shapes({{{2, 3, 4}}, {{3, 5}}})
      .reference(middle(log_sum_exp));
  unary("sum.keepdim", [](V x) { return ebb::sum(x, {0, 2}, true); }).shapes({{{2, 3, 4}}});
  row("dist", [](In x) { return variable_list{ebb::dist(x[0], x[1])}; }).shapes({{{3, 4}, {3, 4}}});
  row("var_mean",
      [](In x) {
        const auto [v, m] = ebb::var_mean(x[0], ebb::IntArrayRef(1));
        return variable_list{v, m};
      })
      .shapes({{{2, 3, 4}}})
      .reference(middle(spread));
}

void extremes() {
  both(
      "max", [](V x) { return ebb::max(x); }, [](V x) { return std::get<0>(ebb::max(x, 1)); }, largest);
  both(
      "min", [](V x) { return ebb::min(x); }, [](V x) { return std::get<0>(ebb::min(x, 1)); }, smallest);
  both(
      "amax", [](V x) { return ebb::amax(x); }, [](V x) { return ebb::amax(x, 1); }, largest);
  both(
      "amin", [](V x) { return ebb::amin(x); }, [](V x) { return ebb::amin(x, 1); }, smallest);
  unary("argmax", [](V x) { return ebb::argmax(x, 1); }).shapes({{{2, 3, 4}}}).order(0, kPlaces);
  unary("argmin", [](V x) { return ebb::argmin(x, 1); }).shapes({{{2, 3, 4}}}).order(0, kPlaces);
  unary("count_nonzero", [](V x) { return ebb::count_nonzero(x > 0); })
      .shapes({{{2, 3, 4}}})
      .order(0, kPlaces);
  unary("any", [](V x) { return ebb::any(x > 1, 1); }).shapes({{{2, 3, 4}}}).order(0, kPlaces);
  unary("all", [](V x) { return ebb::all(x > -1, 1); }).shapes({{{2, 3, 4}}}).order(0, kPlaces);
}

}  // namespace

void register_reduce() {
  averages();
  extremes();
}

}  // namespace optable
