// Rows of reductions, softmax and scans.
#include "optable/reference.h"
#include "optable/table.h"

#include <algorithm>
#include <cmath>

namespace optable {
namespace {

using Op = Variable (*)(V);
using Formula = double (*)(const Column&);

double log_sum_exp(const Column& x) {
  double s = 0;
  for (const double v : x) s += std::exp(v);
  return std::log(s);
}
double largest_magnitude(const Column& x) {
  double m = 0;
  for (const double v : x) m = std::fmax(m, std::fabs(v));
  return m;
}
double cubic(const Column& x) {
  double s = 0;
  for (const double v : x) s += std::pow(std::fabs(v), 3);
  return std::cbrt(s);
}

// Returns short, medium and long rows, which use different kernels.
std::vector<std::vector<Sizes>> many_lengths() {
  return {{{37, 9}}, {{40, 23}}, {{19, 33}}, {{7, 300}}, {{3, 9001}}};
}

/// Adds rows of an op without dim and over dimension 1.
void both(const std::string& name, Op all, Op dim, Formula f) {
  unary(name, all).shapes({{{3, 4}}, {{2, 3, 2}}, {{5}}}).reference(whole(f)).roundings(4);
  Row& along = unary(name + ".dim", dim)
                   .shapes({{{2, 3, 4}}, {{3, 5}}})
                   .short_rows()
                   .reference(over(1, f))
                   .roundings(4)
                   .error("range", [dim] { dim(ebb::ones({3})); });
  if (name != "prod") along.large(many_lengths());  // A product of many numbers is 0 or infinite.
}

void sums() {
  both("sum", [](V x) { return ebb::sum(x); }, [](V x) { return ebb::sum(x, 1); }, total);
  both("mean", [](V x) { return ebb::mean(x); }, [](V x) { return ebb::mean(x, 1); }, average);
  both("prod", [](V x) { return ebb::prod(x); }, [](V x) { return ebb::prod(x, 1); }, product_of);
  both("nansum", [](V x) { return ebb::nansum(x); }, [](V x) { return ebb::nansum(x, 1); }, total);
  both("nanmean", [](V x) { return ebb::nanmean(x); }, [](V x) { return ebb::nanmean(x, 1); }, average);
  unary("nanmean.nan", [](V x) { return ebb::nanmean(x.masked_fill(x.detach() > 0, NAN)); })
      .kinks({0})
      .shapes({{{3, 4}}})
      .reference([](const Arrays& in) {
        Column kept;
        for (const double v : in[0].values)
          if (v <= 0) kept.push_back(v);
        return Arrays{{{}, {average(kept)}}};
      });
  unary("logsumexp", [](V x) { return ebb::logsumexp(x, 1); })
      .short_rows()
      .large(many_lengths())
      .shapes({{{2, 3, 4}}, {{3, 5}}})
      .reference(over(1, log_sum_exp))
      .roundings(4)
      .error("range", [] { ebb::logsumexp(ebb::ones({3}), 1); });
  unary("sum.keepdim", [](V x) { return ebb::sum(x, {0, 2}, true); })
      .shapes({{{2, 3, 4}}})
      .reference(built({1, 3, 1},
                       [](const Arrays& in, const Index& i) {
                         double s = 0;
                         for (std::int64_t a = 0; a < 2; ++a)
                           for (std::int64_t b = 0; b < 4; ++b) s += in[0]({a, i[1], b});
                         return s;
                       }))
      .error("multiple times", [] { ebb::sum(ebb::ones({2, 3}), {0, 0}); });
  // One zero and two zeros: the gradient must not divide by them.
  const auto zeros = [](std::size_t, std::size_t) {
    return ebb::tensor({0.5, 0., -1.5, 2., 0., 0., 1.5, -0.5, 3.}, ebb::kF64).view({3, 3});
  };
  unary("prod.zeros", [](V x) { return ebb::prod(x.select(0, 0)); })
      .shapes({{{3, 3}}})
      .special(zeros)
      .reference([](const Arrays&) { return Arrays{{{}, {0}}}; });
  unary("prod.zeros.dim", [](V x) { return ebb::prod(x, 1); })
      .shapes({{{3, 3}}})
      .special(zeros)
      .roundings(4)
      .reference(over(1, product_of));
  // Reductions of no elements: 0, 1 and NaN.
  unary("sum.empty", [](V x) { return ebb::sum(x, 1); })
      .shapes({{{2, 0, 3}}, {{0, 2}}})
      .reference(over(1, total));
  unary("prod.empty", [](V x) { return ebb::prod(x, 1); })
      .shapes({{{2, 0, 3}}, {{0, 2}}})
      .reference(over(1, product_of));
  unary("mean.empty", [](V x) { return ebb::mean(x, 1); })
      .shapes({{{2, 0, 3}}, {{0, 2}}})
      .reference(over(1, average));
  unary("max.empty", [](V x) { return std::get<0>(ebb::max(x, 1)); })
      .shapes({{{0, 2}}})
      .reference(over(1, largest))
      .error("max", [] { ebb::max(ebb::ones({2, 0}), 1); })
      .error("max", [] { ebb::max(ebb::ones({0})); });
  unary("sum.integers", [](V x) { return ebb::sum(x, 1); })
      .integers(0, -9, 9)
      .shapes({{{2, 3, 4}}})
      .order(0, "integers have no derivative")
      .reference(over(1, total));
  unary("count_nonzero", [](V x) { return ebb::count_nonzero(x, 1); })
      .short_rows()
      .large(many_lengths())
      .integers(0, 0, 2)
      .shapes({{{2, 3, 4}}})
      .order(0, "a count has no derivative")
      .reference(over(1, total));
  unary("count_nonzero.floating", [](V x) { return ebb::count_nonzero(x); })
      .shapes({{{2, 3, 4}}})
      .order(0, "a count has no derivative")
      .at({0}, 0)
      .at({-0.0}, 0)
      .at({1}, 9)  // each point has nine elements
      .at({NAN}, 9)
      .reference(whole([](const Column& x) { return double(x.size()); }));
  // The hash of an odd number of equal elements is the bits of one, and of an even number it is 0.
  unary("hash_tensor", [](V x) { return ebb::hash_tensor(x); })
      .shapes({{{2, 3, 4}}})
      .order(0, "a hash has no derivative")
      .no_reference("64-bit hashes are not numbers; the points and the next row check them")
      .at({1.5}, 4609434218613702656.0)
      .at({-2}, -4611686018427387904.0)
      .error("mode", [] { ebb::hash_tensor(ebb::ones({2}), {}, false, 1); })
      .error("must not have size 0", [] { ebb::hash_tensor(ebb::ones({0, 3}), {0}); })
      .error("must not have size 0", [] { ebb::hash_tensor(ebb::ones({0})); });
  unary("hash_tensor.integers", [](V x) { return ebb::hash_tensor(x, {1}); })
      .integers(0, -9, 9)
      .shapes({{{2, 3, 4}}, {{3, 5}}})
      .order(0, "a hash has no derivative")
      .reference(over(1, [](const Column& x) {
        std::int64_t bits = 0;
        for (const double v : x) bits ^= static_cast<std::int64_t>(v);
        return static_cast<double>(bits);
      }));
}

void moments() {
  both("var", [](V x) { return ebb::var(x); }, [](V x) { return ebb::var(x, ebb::IntArrayRef(1)); }, spread);
  both(
      "std", [](V x) { return ebb::std(x); }, [](V x) { return ebb::std(x, ebb::IntArrayRef(1)); },
      deviation);
  row("var_mean",
      [](In x) {
        const auto [v, m] = ebb::var_mean(x[0], ebb::IntArrayRef(1));
        return variable_list{v, m};
      })
      .shapes({{{2, 3, 4}}})
      .roundings(4)
      .reference([](const Arrays& in) { return Arrays{over(1, spread)(in)[0], over(1, average)(in)[0]}; });
  row("std_mean",
      [](In x) {
        const auto [v, m] = ebb::std_mean(x[0], ebb::IntArrayRef(1));
        return variable_list{v, m};
      })
      .shapes({{{2, 3, 4}}})
      .roundings(4)
      .reference([](const Arrays& in) { return Arrays{over(1, deviation)(in)[0], over(1, average)(in)[0]}; });
}

void norms() {
  both("norm", [](V x) { return ebb::norm(x); }, [](V x) { return ebb::norm(x, 2, 1); }, length);
  both(
      "linalg_vector_norm", [](V x) { return ebb::linalg_vector_norm(x); },
      [](V x) { return ebb::linalg_vector_norm(x, 2, 1); }, length);
  both("norm.three", [](V x) { return ebb::norm(x, 3); }, [](V x) { return ebb::norm(x, 3, 1); }, cubic);
  both(
      "norm.infinity", [](V x) { return ebb::norm(x, INFINITY); },
      [](V x) { return ebb::norm(x, INFINITY, 1); }, largest_magnitude);
  row("dist", [](In x) { return variable_list{ebb::dist(x[0], x[1])}; })
      .shapes({{{3, 4}, {3, 4}}})
      .roundings(4)
      .reference([](const Arrays& in) {
        Column d;
        for (std::size_t i = 0; i < in[0].values.size(); ++i) d.push_back(in[0][i] - in[1][i]);
        return Arrays{{{}, {length(d)}}};
      });
}

// Returns the index of the first maximum, as a double.
double place_of_largest(const Column& x) {
  std::size_t at = 0;
  for (std::size_t i = 1; i < x.size(); ++i)
    if (x[i] > x[at]) at = i;
  return static_cast<double>(at);
}
double place_of_smallest(const Column& x) {
  Column negated;
  for (const double v : x) negated.push_back(-v);
  return place_of_largest(negated);
}

void extremes() {
  both("max", [](V x) { return ebb::max(x); }, [](V x) { return std::get<0>(ebb::max(x, 1)); }, largest);
  both("min", [](V x) { return ebb::min(x); }, [](V x) { return std::get<0>(ebb::min(x, 1)); }, smallest);
  both("amax", [](V x) { return ebb::amax(x); }, [](V x) { return ebb::amax(x, 1); }, largest);
  both("amin", [](V x) { return ebb::amin(x); }, [](V x) { return ebb::amin(x, 1); }, smallest);
  row("aminmax",
      [](In x) {
        const auto [low, high] = ebb::aminmax(x[0], 1);
        return variable_list{low, high};
      })
      .shapes({{{2, 3, 4}}, {{3, 5}}})
      .reference([](const Arrays& in) { return Arrays{over(1, smallest)(in)[0], over(1, largest)(in)[0]}; });
  const char* const places = "indices have no derivative";
  unary("argmax", [](V x) { return ebb::argmax(x, 1); })
      .short_rows()
      .large(many_lengths())
      .shapes({{{2, 3, 4}}})
      .order(0, places)
      .reference(over(1, place_of_largest));
  unary("argmin", [](V x) { return ebb::argmin(x, 1); })
      .short_rows()
      .large(many_lengths())
      .shapes({{{2, 3, 4}}})
      .order(0, places)
      .reference(over(1, place_of_smallest));
  const char* const truth = "a Bool has no derivative";
  unary("any", [](V x) { return ebb::any(x > 1, 1); })
      .short_rows()
      .large(many_lengths())
      .shapes({{{2, 3, 4}}})
      .order(0, truth)
      .reference(over(1, [](const Column& x) { return double(largest(x) > 1); }));
  unary("all", [](V x) { return ebb::all(x > -1, 1); })
      .short_rows()
      .large(many_lengths())
      .shapes({{{2, 3, 4}}})
      .order(0, truth)
      .reference(over(1, [](const Column& x) { return double(smallest(x) > -1); }));
  // Zeros of both signs are false, and NaN is true.
  for (const bool all : {false, true})
    row(all ? "all.floating" : "any.floating",
        [all](In x) { return variable_list{all ? ebb::all(x[0]) : ebb::any(x[0])}; })
        .shapes({{{2, 3, 4}}})
        .order(0, truth)
        .at({0}, 0)
        .at({-0.0}, 0)
        .at({1}, 1)
        .at({NAN}, 1)
        .reference(whole([](const Column&) { return 1.0; }));
  unary("any.all", [](V x) { return ebb::stack({ebb::any(x > 1), ebb::all(x > -3)}); })
      .shapes({{{2, 3, 4}}})
      .order(0, truth)
      .reference([](const Arrays& in) {
        return Arrays{{{2}, {double(largest(in[0].values) > 1), double(smallest(in[0].values) > -3)}}};
      });
}

}  // namespace

void register_reduce() {
  family("reduce");
  sums();
  moments();
  norms();
  extremes();
}

// Softmax and scans.

namespace {

using DimOp = Variable (*)(V, std::int64_t dim);

void soft(Column& c) {
  double s = 0;
  for (const double v : c) s += std::exp(v);
  for (double& v : c) v = std::exp(v) / s;
}
void log_soft(Column& c) {
  soft(c);
  for (double& v : c) v = std::log(v);
}
void running_sums(Column& c) {
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

/// Adds rows of an op on lines, along the first dimension and along the last; returns the latter.
Row& lines(const std::string& name, DimOp f, void (*reference)(Column&), double roundings) {
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
  lines("softmax", [](V x, std::int64_t d) { return ebb::softmax(x, d); }, soft, 2);
  lines("log_softmax", [](V x, std::int64_t d) { return ebb::log_softmax(x, d); }, log_soft, 4);
  lines("_softmax", [](V x, std::int64_t d) { return ebb::_softmax(x, d, false); }, soft, 2);
  lines("_log_softmax", [](V x, std::int64_t d) { return ebb::_log_softmax(x, d, false); }, log_soft, 4);
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
      "cumsum", [](V x, std::int64_t d) { return ebb::cumsum(x, d); }, running_sums, 4)
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
  lines("logcumsumexp", [](V x, std::int64_t d) { return ebb::logcumsumexp(x, d); }, log_sums, 4);
  lines("cummax", [](V x, std::int64_t d) { return std::get<0>(ebb::cummax(x, d)); }, most, 2);
  lines("cummin", [](V x, std::int64_t d) { return std::get<0>(ebb::cummin(x, d)); }, least, 2);
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
