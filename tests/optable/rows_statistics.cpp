// Rows of covariances, bounded norms, histograms, quantiles without NaN, segments, parts of numbers, random
// counts.
#include <ebb/ops/elementwise/parts.h>
#include <ebb/ops/index.h>
#include <ebb/ops/random.h>
#include <ebb/ops/reduce.h>

#include "optable/reference.h"
#include "optable/table.h"

#include <algorithm>
#include <cmath>

namespace optable {
namespace {

const char* const kCounts = "counts have no derivative";

// Computes the covariance with weights w, of which a counts as reliability, and a correction.
Array covariance(const Array& x, const Column& w, const Column& a, double correction) {
  const std::int64_t v = x.size(0), n = x.size(1);
  double total = 0, squares = 0;
  for (std::size_t k = 0; k < w.size(); ++k) total += w[k], squares += w[k] * a[k];
  Column mean;
  for (std::int64_t i = 0; i < v; ++i) {
    double sum = 0;
    for (std::int64_t k = 0; k < n; ++k) sum += x({i, k}) * w[static_cast<std::size_t>(k)];
    mean.push_back(sum / total);
  }
  Array out{{v, v}, {}};
  for (std::size_t i = 0; i < mean.size(); ++i)
    for (std::size_t j = 0; j < mean.size(); ++j) {
      double sum = 0;
      for (std::int64_t k = 0; k < n; ++k)
        sum += w[static_cast<std::size_t>(k)] * (x({static_cast<std::int64_t>(i), k}) - mean[i]) *
               (x({static_cast<std::int64_t>(j), k}) - mean[j]);
      out.values.push_back(sum / (total - correction * squares / total));
    }
  return out;
}

Array correlations(const Array& x) {
  const Column equal(static_cast<std::size_t>(x.size(1)), 1);
  Array c = covariance(x, equal, equal, 1);
  const std::size_t v = static_cast<std::size_t>(x.size(0));
  Column deviation;
  for (std::size_t i = 0; i < v; ++i) deviation.push_back(std::sqrt(c.values[i * v + i]));
  for (std::size_t i = 0; i < v * v; ++i) c.values[i] /= deviation[i / v] * deviation[i % v];
  return c;
}

/// Returns 1, 2, 1 and 3 on the device of `like`.
Variable counted(V like) {
  const Variable i = ebb::arange(4, ebb::TensorOptions(ebb::kLong).device(like.device()));
  return i.bitwise_and(1) * (i.bitwise_right_shift(1) + 1) + 1;
}

// Returns columns along dimension 1 of [2, 3, 2], scaled to a norm of at most 1.
Array bounded(const Array& x) {
  Array out = x;
  for (std::int64_t j = 0; j < 3; ++j) {
    double sum = 0;
    for (std::int64_t i = 0; i < 2; ++i)
      for (std::int64_t k = 0; k < 2; ++k) sum += std::pow(std::fabs(x({i, j, k})), 3);
    const double size = std::cbrt(sum);
    for (std::int64_t i = 0; i < 2; ++i)
      for (std::int64_t k = 0; k < 2; ++k)
        if (size > 1) out.values[static_cast<std::size_t>(i * 6 + j * 2 + k)] /= size + 1e-7;
  }
  return out;
}

void statistics() {
  unary("cov", [](V x) { return ebb::cov(x); })
      .composed()
      .shapes({{{3, 4}}, {{2, 5}}})
      .roundings(8)
      .reference([](const Arrays& in) {
        const Column equal(static_cast<std::size_t>(in[0].size(1)), 1);
        return Arrays{covariance(in[0], equal, equal, 1)};
      })
      .error("two dimensions", [] { ebb::cov(ebb::ones({2, 2, 2})); })
      .error("fweights", [] { ebb::cov(ebb::ones({2, 3}), 1, ebb::ones({2}, ebb::kLong)); })
      .error("negative", [] { ebb::cov(ebb::ones({2, 3}), 1, ebb::full({3}, -1, ebb::kLong)); })
      .error("sum to zero", [] { ebb::cov(ebb::ones({2, 3}), 1, ebb::zeros({3}, ebb::kLong)); });
  row("cov.weights", [](In x) { return variable_list{ebb::cov(x[0], 1, counted(x[0]), x[1])}; })
      .composed()
      .shapes({{{3, 4}, {4}}})
      .range(-1, 1)
      .range(0.5, 2)
      .roundings(16)
      .reference([](const Arrays& in) {
        Column w = {1, 2, 1, 3};
        for (std::size_t k = 0; k < 4; ++k) w[k] *= in[1].values[k];
        return Arrays{covariance(in[0], w, in[1].values, 1)};
      });
  unary("cov.counts", [](V x) { return ebb::cov(x, 0, counted(x)); })
      .composed()
      .shapes({{{3, 4}}})
      .roundings(8)
      .reference([](const Arrays& in) { return Arrays{covariance(in[0], {1, 2, 1, 3}, {1, 1, 1, 1}, 0)}; });
  unary("corrcoef", [](V x) { return ebb::corrcoef(x); })
      .composed()
      .shapes({{{3, 4}}})
      .roundings(16)
      .order(0, "the diagonal is at the kink of the clamp to [-1, 1]")
      .reference([](const Arrays& in) { return Arrays{correlations(in[0])}; });
  unary("corrcoef.slopes", [](V x) { return ebb::corrcoef(x.narrow(0, 0, 2))[0][1]; })
      .composed()
      .shapes({{{3, 4}}})
      .roundings(16)
      .reference([](const Arrays& in) { return Arrays{{{}, {correlations(in[0]).values[1]}}}; });
  unary("renorm", [](V x) { return ebb::renorm(x, 3, 1, 1); })
      .composed()
      .shapes({{{2, 3, 2}}})
      .range(-1, 1)
      .in_place([](In x) { return ebb::renorm_(x[0], 3, 1, 1); })
      .reference([](const Arrays& in) { return Arrays{bounded(in[0])}; })
      .error("at least 2 dimensions", [] { ebb::renorm(ebb::ones({3}), 2, 0, 1); })
      .error("non-positive-norm", [] { ebb::renorm(ebb::ones({3, 2}), 0, 0, 1); })
      .error("maxnorm", [] { ebb::renorm(ebb::ones({3, 2}), 2, 0, -1); });
}

// Returns the sums of weights in the bins between edges; the last bin includes its right edge.
Column binned(const Column& x, const Column& w, const Column& edges) {
  Column out(edges.size() - 1, 0);
  for (std::size_t k = 0; k < x.size(); ++k)
    for (std::size_t b = 0; b < out.size(); ++b)
      if (x[k] >= edges[b] && (x[k] < edges[b + 1] || (b + 1 == out.size() && x[k] == edges[b + 1])))
        out[b] += w[k];
  return out;
}
Array row_of(const Column& c) { return {{static_cast<std::int64_t>(c.size())}, c}; }

double numbers_only(const Column& x) {
  Column c;
  for (const double v : x)
    if (!std::isnan(v)) c.push_back(v);
  if (c.empty()) return NAN;
  std::sort(c.begin(), c.end());
  const double at = 0.3 * static_cast<double>(c.size() - 1);
  const std::size_t low = static_cast<std::size_t>(at), high = std::min(low + 1, c.size() - 1);
  return c[low] + (at - static_cast<double>(low)) * (c[high] - c[low]);
}

Variable with_nan(V x) { return ebb::where(x.detach() > 0.6, NAN, x); }
double beyond(double x) { return x > 0.6 ? NAN : x; }

void histograms() {
  const char* const exact = "float and double only, as in PyTorch";
  row("histogram",
      [](In x) {
        const auto [sums, edges] = ebb::histogram(x[0], 4, ebb::ArrayRef<double>({-0.5, 0.5}), x[1]);
        return variable_list{sums, edges};
      })
      .shapes({{{3, 4}, {3, 4}}})
      .order(0, kCounts)
      .no_half(exact)
      .reference([](const Arrays& in) {
        const Column edges = {-0.5, -0.25, 0, 0.25, 0.5};
        return Arrays{row_of(binned(in[0].values, in[1].values, edges)), row_of(edges)};
      })
      .error("bins must be > 0", [] { ebb::histogram(ebb::ones({2}), 0); })
      .error("should not exceed", [] { ebb::histogram(ebb::ones({2}), 3, ebb::ArrayRef<double>({2, 1})); })
      .error("one weight", [] { ebb::histogram(ebb::ones({2}), 3, ebb::nullopt, ebb::ones({3})); });
  row("histogram.edges",
      [](In x) {
        const Variable edges = ebb::tensor({-0.75, -0.5, 0.125, 1.0}, x[0].options());
        return variable_list{std::get<0>(ebb::histogram(x[0], edges, {}, true))};
      })
      .shapes({{{3, 4}}})
      .order(0, kCounts)
      .no_half(exact)
      .reference([](const Arrays& in) {
        const Column edges = {-0.75, -0.5, 0.125, 1.0};
        Column sums = binned(in[0].values, Column(in[0].values.size(), 1), edges);
        const double all = total(sums);
        for (std::size_t b = 0; b < sums.size(); ++b) sums[b] /= all * (edges[b + 1] - edges[b]);
        return Arrays{row_of(sums)};
      });
  row("histogramdd",
      [](In x) {
        const auto [sums, edges] =
            ebb::histogramdd(x[0], {2, 3}, ebb::ArrayRef<double>({-1, 1, -0.75, 0.75}));
        return variable_list{sums, edges[0], edges[1]};
      })
      .shapes({{{6, 2}}, {{2, 4, 2}}})
      .order(0, kCounts)
      .no_half(exact)
      .reference([](const Arrays& in) {
        const Column a = {-1, 0, 1}, b = {-0.75, -0.25, 0.25, 0.75};
        Array out{{2, 3}, Column(6, 0)};
        for (std::size_t k = 0; k < in[0].values.size(); k += 2) {
          const Column i = binned({in[0][k]}, {1}, a), j = binned({in[0][k + 1]}, {1}, b);
          for (std::size_t p = 0; p < 2; ++p)
            for (std::size_t q = 0; q < 3; ++q) out.values[p * 3 + q] += i[p] * j[q];
        }
        return Arrays{out, row_of(a), row_of(b)};
      })
      .error("one for each dimension",
             [] { ebb::histogramdd(ebb::ones({4, 2}), ebb::IntArrayRef({2, 2, 2})); });
  unary("nanquantile", [](V x) { return ebb::nanquantile(with_nan(x), 0.3); })
      .shapes({{{3, 3}}, {{3, 4}}})
      .no_half(exact)
      .kinks({0.6})
      .reference(whole([](const Column& x) {
        Column c = x;
        std::transform(c.begin(), c.end(), c.begin(), beyond);
        return numbers_only(c);
      }));
  unary("nanquantile.dim", [](V x) { return ebb::nanquantile(with_nan(x), 0.3, 1); })
      .shapes({{{3, 4}}, {{2, 3, 2}}})
      .no_half(exact)
      .kinks({0.6})
      .reference(over(1,
                      [](const Column& x) {
                        Column c = x;
                        std::transform(c.begin(), c.end(), c.begin(), beyond);
                        return numbers_only(c);
                      }))
      .error("interpolation", [] { ebb::nanquantile(ebb::ones({3}), 0.5, 0, false, "cubic"); });
}

/// Returns 2, 0 and 3 on the device of `like`.
Variable lengths(V like) {
  const Variable i = ebb::arange(3, ebb::TensorOptions(ebb::kLong).device(like.device()));
  return ebb::bitwise_right_shift(i * i * 5 - i * 9 + 4, 1);
}

/// Reduces [5, 2] in segments of 2, 0 and 3 rows.
Row::Reference segments(double (*f)(const Column&), double empty) {
  return built({3, 2}, [f, empty](const Arrays& in, const Index& i) {
    Column c;
    for (std::int64_t k = i[0] == 0 ? 0 : 2; k < (i[0] == 0 ? 2 : i[0] == 1 ? 2 : 5); ++k)
      c.push_back(in[0]({k, i[1]}));
    return c.empty() ? empty : f(c);
  });
}

void segments() {
  const auto segmented = [](const char* name, Variable (*f)(V), double (*value)(const Column&),
                            double empty) -> Row& {
    return unary(name, f).shapes({{{5, 2}}}).roundings(4).reference(segments(value, empty));
  };
  segmented(
      "segment_reduce", [](V x) { return ebb::segment_reduce(x, "sum", lengths(x)); }, total, 0)
      .error("add up to 5",
             [] { ebb::segment_reduce(ebb::ones({5}), "sum", ebb::tensor({2, 2}, ebb::kLong)); })
      .error("reduce must be",
             [] { ebb::segment_reduce(ebb::ones({4}), "median", ebb::tensor({2, 2}, ebb::kLong)); })
      .error("neither", [] { ebb::segment_reduce(ebb::ones({4}), "sum"); });
  segmented(
      "segment_reduce.mean",
      [](V x) { return ebb::segment_reduce(x, "mean", lengths(x), {}, {}, 0, false, ebb::Scalar(0)); },
      average, 0);
  segmented(
      "segment_reduce.max",
      [](V x) { return ebb::segment_reduce(x, "max", lengths(x), {}, {}, 0, false, ebb::Scalar(-5)); },
      largest, -5);
  segmented(
      "segment_reduce.min",
      [](V x) { return ebb::segment_reduce(x, "min", lengths(x), {}, {}, 0, true, ebb::Scalar(5)); },
      smallest, 5);
  segmented(
      "segment_reduce.prod", [](V x) { return ebb::segment_reduce(x, "prod", lengths(x)); }, product_of, 1);
  unary("segment_reduce.offsets",
        [](V x) {
          const Variable offsets = ebb::tensor({0, 1, 3, 0, 2, 3}, ebb::kLong).view({2, 3}).to(x.device());
          return ebb::segment_reduce(x, "sum", {}, {}, offsets, 1);
        })
      .shapes({{{2, 3, 2}}})
      .roundings(4)
      .reference(built({2, 2, 2}, [](const Arrays& in, const Index& i) {
        const std::int64_t first[2][3] = {{0, 1, 3}, {0, 2, 3}};
        double sum = 0;
        for (std::int64_t k = first[i[0]][i[1]]; k < first[i[0]][i[1] + 1]; ++k)
          sum += in[0]({i[0], k, i[2]});
        return sum;
      }));
}

void parts_of_numbers() {
  row("frexp",
      [](In x) {
        const auto [mantissa, exponent] = ebb::frexp(x[0]);
        return variable_list{mantissa, exponent};
      })
      .shapes({{{3, 4}}})
      .range(-40, 40)
      .kinks({0, 0.5, 1, 2, 4, 8, 16, 32, -0.5, -1, -2, -4, -8, -16, -32})
      .node("FrexpBackward0")
      .reference([](const Arrays& in) {
        Arrays out{in[0], in[0]};
        for (std::size_t i = 0; i < in[0].values.size(); ++i) {
          int exponent = 0;
          out[0].values[i] = std::frexp(in[0][i], &exponent);
          out[1].values[i] = exponent;
        }
        return out;
      })
      .error("frexp", [] { ebb::frexp(ebb::ones({2}, ebb::kLong)); });
  binary("nextafter", ebb::nextafter)
      .double_only("the adjacent number differs between dtypes")
      .reference(std::nextafter)
      .accurate(0, 0)
      .in_place([](In x) { return ebb::nextafter_(x[0], x[1]); })
      .at({0, 1}, 5e-324, {1, 0})
      .at({1, 1}, 1, {0, 0})
      .at({1, INFINITY}, 1 + 0x1p-52)
      .at({1, -INFINITY}, 1 - 0x1p-53)
      .at({INFINITY, 0}, 1.7976931348623157e308)
      .error("floating-point",
             [] { ebb::nextafter(ebb::ones({2}, ebb::kLong), ebb::ones({2}, ebb::kLong)); });
  unary("isreal", ebb::isreal).order(0, "the result is a Bool").gives(ebb::kBool).reference([](double) {
    return 1.0;
  });
  unary("resolve_neg", ebb::resolve_neg).reference([](double x) { return x; });
}

void counts() {
  const char* const golden = "the golden values in tests/ops check the drawn numbers";
  const char* const drawn = "each dtype draws other numbers";
  unary("poisson", [](V x) { return ebb::poisson(x, ebb::Generator(11)); })
      .shapes({{{3, 4}}})
      .range(0.5, 20)
      .no_reference(golden)
      .double_only(drawn)
      .cpu_only("each device draws other numbers")
      .node("PoissonBackward0")
      .error("not negative", [] { ebb::poisson(ebb::full({2}, -1.0)); });
  binary("binomial",
         [](V n, V p) { return ebb::binomial((n.detach() * 40).floor() + 0 * n, p, ebb::Generator(11)); })
      .shapes({{{3, 4}, {3, 4}}, {{3, 4}, {4}}})
      .range(0.1, 0.9)
      .order(0, "the gradient is zero by definition, because a draw is not a function of its parameters")
      .no_reference(golden)
      .double_only(drawn)
      .cpu_only("each device draws other numbers")
      .node("BinomialBackward0")
      .error("one dtype", [] { ebb::binomial(ebb::ones({2}), ebb::ones({2}, ebb::kDouble)); });
}

}  // namespace

void register_statistics() {
  family("reduce");
  statistics();
  family("sort");
  histograms();
  family("index");
  segments();
  family("elementwise");
  parts_of_numbers();
  family("random");
  counts();
}

}  // namespace optable
