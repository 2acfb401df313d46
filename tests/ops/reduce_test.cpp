// Reductions: values over shapes, dimensions, layouts and dtypes; edge cases; errors; threads.
#include "check.h"

#include <algorithm>
#include <numeric>

using namespace reduce_test;
using ebb::IntArrayRef;
using ebb::kDouble;
using ebb::kFloat;

namespace {

double sum_of(const Line& line) { return std::accumulate(line.begin(), line.end(), 0.0); }
double variance_of(const Line& line, double correction) {
  const double mean = sum_of(line) / static_cast<double>(line.size());
  double total = 0;
  for (double v : line) total += (v - mean) * (v - mean);
  return total / std::max(static_cast<double>(line.size()) - correction, 0.0);
}
double norm_of(const Line& line, double p) {
  double total = p == -kInf ? kInf : 0;
  for (double v : line) {
    if (p == kInf)
      total = std::max(total, std::abs(v));
    else if (p == -kInf)
      total = std::min(total, std::abs(v));
    else if (p == 0)
      total += v != 0;
    else
      total += std::pow(std::abs(v), p);
  }
  return p == 0 || std::isinf(p) ? total : std::pow(total, 1 / p);
}
double log_sum_exp(const Line& line) {
  double total = 0;
  for (double v : line) total += std::exp(v);
  return std::log(total);
}

struct Case {
  const char* name;
  Variable (*call)(const Variable&, IntArrayRef, bool);
  std::function<double(const Line&)> want;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"sum", [](const Variable& x, IntArrayRef d, bool k) { return x.sum(d, k); }, sum_of},
      {"mean", [](const Variable& x, IntArrayRef d, bool k) { return x.mean(d, k); },
       [](const Line& l) { return sum_of(l) / static_cast<double>(l.size()); }},
      {"amax", [](const Variable& x, IntArrayRef d, bool k) { return x.amax(d, k); },
       [](const Line& l) { return *std::max_element(l.begin(), l.end()); }},
      {"amin", [](const Variable& x, IntArrayRef d, bool k) { return x.amin(d, k); },
       [](const Line& l) { return *std::min_element(l.begin(), l.end()); }},
      {"var", [](const Variable& x, IntArrayRef d, bool k) { return x.var(d, true, k); },
       [](const Line& l) { return variance_of(l, 1); }},
      {"std",
       [](const Variable& x, IntArrayRef d, bool k) { return x.std(d, ebb::optional<std::int64_t>(0), k); },
       [](const Line& l) { return std::sqrt(variance_of(l, 0)); }},
      {"norm2", [](const Variable& x, IntArrayRef d, bool k) { return x.norm(2, d, k); },
       [](const Line& l) { return norm_of(l, 2); }},
      {"norm1", [](const Variable& x, IntArrayRef d, bool k) { return x.norm(1, d, k); },
       [](const Line& l) { return norm_of(l, 1); }},
      {"norm0", [](const Variable& x, IntArrayRef d, bool k) { return x.norm(0, d, k); },
       [](const Line& l) { return norm_of(l, 0); }},
      {"norm3.5", [](const Variable& x, IntArrayRef d, bool k) { return x.norm(3.5, d, k); },
       [](const Line& l) { return norm_of(l, 3.5); }},
      {"norm.inf", [](const Variable& x, IntArrayRef d, bool k) { return x.norm(kInf, d, k); },
       [](const Line& l) { return norm_of(l, kInf); }},
      {"norm.-inf", [](const Variable& x, IntArrayRef d, bool k) { return x.norm(-kInf, d, k); },
       [](const Line& l) { return norm_of(l, -kInf); }},
      {"logsumexp", [](const Variable& x, IntArrayRef d, bool k) { return x.logsumexp(d, k); }, log_sum_exp},
      {"nansum", [](const Variable& x, IntArrayRef d, bool k) { return x.nansum(d, k); }, sum_of},
      {"count_nonzero", [](const Variable& x, IntArrayRef d, bool) { return x.count_nonzero(d); },
       [](const Line& l) { return norm_of(l, 0); }},
  };
  return all;
}

// Checks every subset of the dimensions in the contiguous, transposed and strided layouts.
void check_all(const Variable& x, double tolerance) {
  const std::int64_t n = x.dim();
  for (int mask = 1; mask < (1 << n); ++mask) {
    std::vector<std::int64_t> dims;
    for (int d = 0; d < n; ++d)
      if ((mask >> d) & 1) dims.push_back(d % 2 ? d - n : d);
    for (const Case& c : cases()) {
      const std::vector<double> want = naive(x, dims, c.want);
      for (bool keepdim : {false, true}) {
        INFO(c.name << " mask " << mask << " keepdim " << keepdim);
        const Variable y = c.call(x, dims, keepdim);
        check_close(y, want, tolerance);
        if (std::string(c.name) != "count_nonzero")
          CHECK(y.dim() == (keepdim ? n : n - static_cast<std::int64_t>(dims.size())));
      }
    }
  }
}

}  // namespace

TEST_CASE("reductions equal plain loops for every shape, dimension and layout") {
  for (const std::vector<std::int64_t>& sizes : std::vector<std::vector<std::int64_t>>{
           {5}, {1}, {40}, {3, 4}, {33, 70}, {2, 3, 4}, {4, 1, 70}, {2, 3, 5, 2}}) {
    const Variable x = ramp(sizes, -2, 2);
    check_all(x, 1e-12);
    check_all(ramp(sizes, 0.5, 2).to(kFloat), 2e-6);  // without cancellation
    if (x.dim() > 1) check_all(x.transpose(0, -1), 1e-12);
    if (x.dim() > 2) check_all(x.transpose(0, 1), 1e-12);
    check_all(ramp({2, 3}).expand({4, 2, 3}), 1e-12);
  }
}

TEST_CASE("sum accepts strided slices and expanded tensors") {
  const Variable x = ramp({6, 8, 4}, -2, 2);
  const Variable cut = x.slice(0, 1, 6, 2).slice(1, 0, 8, 3);
  check_all(cut, 1e-12);
  const Variable line = ramp({3, 1}).expand({3, 500});
  check_close(line.sum(), naive(line, {}, sum_of), 1e-12);
  check_close(line.sum(0), naive(line, {0}, sum_of), 1e-12);
}

TEST_CASE("long float sums are accurate") {
  for (const std::vector<std::int64_t>& sizes : std::vector<std::vector<std::int64_t>>{
           {1000003}, {1000, 1024}, {1024, 1000}, {70000, 3}, {3, 70000}, {64, 8, 50, 50}}) {
    const Variable x = ramp(sizes, 0, 1).to(kFloat);
    for (std::int64_t d = 0; d < x.dim(); ++d) check_close(x.sum(d), naive(x, {d}, sum_of), 1e-6);
    check_close(x.sum(), naive(x, {}, sum_of), 1e-6);
    if (x.dim() == 4) check_close(x.sum({0, 2, 3}), naive(x, {0, 2, 3}, sum_of), 1e-6);
  }
  // A plain float sum would stop at 2^24.
  CHECK(ebb::ones({20000000}).sum().item<double>() == 20000000);
  CHECK(ebb::ones({20000000, 1}).expand({20000000, 3}).sum(0)[1].item<double>() == 20000000);
}

TEST_CASE("reductions do not depend on the number of threads") {
  const int before = ebb::get_num_threads();
  const Variable x = ramp({300, 1000}).to(kFloat);
  const Variable nchw = ramp({16, 24, 20, 20}).to(kFloat);
  const Variable wide = ramp({4, 70000}).to(kFloat);
  const auto run = [&](int threads) {
    ebb::set_num_threads(threads);
    return std::vector<Variable>{x.sum(),
                                 x.sum(0),
                                 x.sum(1),
                                 x.t().sum(0),
                                 nchw.sum({0, 2, 3}),
                                 wide.sum(0),
                                 wide.sum(1),
                                 x.var(0),
                                 nchw.var({0, 2, 3}),
                                 wide.t().sum(0),
                                 x.softmax(1),
                                 x.softmax(0),
                                 x.norm(),
                                 x.cumsum(0),
                                 x.argmax(0),
                                 x.max(),
                                 x.logsumexp(1),
                                 x.prod(1),
                                 std::get<0>(x.sort(1)),
                                 wide.mean()};
  };
  const auto one = run(1), two = run(2), three = run(3);
  ebb::set_num_threads(before);
  for (std::size_t i = 0; i < one.size(); ++i) {
    INFO("result " << i);
    CHECK(same_bits(one[i], two[i]));
    CHECK(same_bits(one[i], three[i]));
  }
}

TEST_CASE("sum, prod and mean have the dtypes of torch") {
  const Variable ints = ebb::arange(1, 6, ebb::kInt);
  CHECK(ints.sum().dtype() == ebb::kLong);
  CHECK(ints.sum().item<std::int64_t>() == 15);
  CHECK(ints.prod().item<std::int64_t>() == 120);
  CHECK(ints.sum(ebb::kInt).dtype() == ebb::kInt);
  CHECK(ints.mean(kFloat).item<double>() == 3);
  CHECK(ints.gt(2).sum().item<std::int64_t>() == 3);
  CHECK(ints.gt(2).sum().dtype() == ebb::kLong);
  CHECK(ebb::full({300}, 100, ebb::kByte).sum().item<std::int64_t>() == 30000);
  CHECK(ebb::ones({5000}, ebb::kHalf).sum().item<double>() == 5000);
  CHECK(ebb::ones({5000}, ebb::kHalf).sum().dtype() == ebb::kHalf);
  CHECK(ebb::full({100, 3}, 0.5, ebb::kBFloat16).mean(0)[2].item<double>() == 0.5);
  CHECK(ramp({4}).to(kFloat).sum(kDouble).dtype() == kDouble);
  CHECK(ramp({4}).sum(0, false, kFloat).dtype() == kFloat);
  CHECK(ints.nansum().dtype() == ebb::kLong);
  CHECK_THROWS_WITH(ints.mean(),
                    support::Contains("mean: expected a floating-point dtype, got Int. Convert"));
  CHECK_THROWS_WITH(ints.mean(0),
                    support::Contains("mean: expected a floating-point dtype, got Int. Convert"));
  CHECK_THROWS_WITH(ints.var(),
                    support::Contains("var: std and var only support floating-point dtypes, got"));
  CHECK_THROWS_WITH(ints.norm(),
                    support::Contains("norm: input dtype should be floating point, got Int[5] on"));
}

TEST_CASE("sum and prod of integers wrap as in torch") {
  using namespace ebb;
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  CHECK(sum(tensor({most, std::int64_t{1}})).item<std::int64_t>() == -most - 1);
  CHECK(sum(tensor({most, most, most})).item<std::int64_t>() == most - 2);
  CHECK(prod(arange(1, 31)).item<std::int64_t>() == -8764578968847253504);  // 30! modulo 2^64
  CHECK(cumprod(arange(1, 31), 0).select(0, 29).item<std::int64_t>() == -8764578968847253504);
  CHECK(cumsum(tensor({most, std::int64_t{2}}), 0).select(0, 1).item<std::int64_t>() == -most);
}

TEST_CASE("reductions of no elements have the values or errors of torch") {
  const Variable none = ebb::zeros({0, 3}, kDouble);
  CHECK(none.sum().item<double>() == 0);
  CHECK(none.sum(0).sizes() == IntArrayRef({3}));
  CHECK(none.sum(1).sizes() == IntArrayRef({0}));
  CHECK(none.prod().item<double>() == 1);
  CHECK(std::isnan(none.mean().item<double>()));
  CHECK(std::isnan(none.var().item<double>()));
  CHECK(none.norm().item<double>() == 0);
  CHECK(none.logsumexp(0)[0].item<double>() == -kInf);
  CHECK(none.amax({1}).numel() == 0);
  CHECK(std::get<0>(none.max(1)).numel() == 0);
  CHECK(none.all().item<bool>());
  CHECK_FALSE(none.any().item<bool>());
  CHECK(none.count_nonzero().item<std::int64_t>() == 0);
  CHECK_THROWS_WITH(none.max(), support::Contains("max: Expected reduction dim to be specified for"));
  CHECK_THROWS_MATCHES(none.max(0), ebb::IndexError,
                       support::Saying("max: Expected reduction dim 0 to have non-zero size, got"));
  CHECK_THROWS_WITH(none.amax({0}),
                    support::Contains("amax: Expected reduction dim 0 to have non-zero size, got"));
  CHECK_THROWS_WITH(none.amin(),
                    support::Contains("amin: Expected reduction dim 0 to have non-zero size, got"));
  CHECK_THROWS_WITH(none.argmax(), support::Contains("argmax: Expected reduction dim to be specified for"));
  CHECK_THROWS_WITH(none.aminmax(),
                    support::Contains("aminmax: Expected reduction dim 0 to have non-zero size"));
  CHECK(std::isnan(ebb::ones({1}, kDouble).var().item<double>()));
}

TEST_CASE("reductions throw for invalid dimensions") {
  const Variable x = ramp({2, 3});
  CHECK_THROWS_MATCHES(x.sum(2), ebb::IndexError,
                       support::Saying("sum: Dimension out of range (expected to be in range of"));
  CHECK_THROWS_MATCHES(x.sum(-3), ebb::IndexError,
                       support::Saying("sum: Dimension out of range (expected to be in range of"));
  CHECK_THROWS_WITH(x.sum({1, -1}), support::Contains("appears multiple times"));
  CHECK_THROWS_MATCHES(x.prod(2), ebb::IndexError,
                       support::Saying("prod: Dimension out of range (expected to be in range of"));
  CHECK_THROWS_MATCHES(x.logsumexp(5), ebb::IndexError,
                       support::Saying("logsumexp: Dimension out of range (expected to be in"));
  CHECK(x.sum(std::vector<std::int64_t>{}).dim() == 0);
  CHECK(x.sum(ebb::nullopt, true).sizes() == IntArrayRef({1, 1}));
  CHECK(ebb::tensor(2.5).sum(0).item<double>() == 2.5);
  CHECK(ebb::tensor(2.5).sum({-1}).dim() == 0);
}

TEST_CASE("max, min, argmax and argmin have the right values, indices and treatment of NaN") {
  const Variable x = ebb::tensor({3., 1., 2., 4., 9., 9.}, kDouble).view({2, 3});
  const auto [values, indices] = x.max(1);
  check_close(values, {3, 9}, 0);
  check_close(indices, {0, 1}, 0);
  CHECK(x.argmax().item<std::int64_t>() == 4);
  check_close(x.argmin(0, true), {0, 0, 0}, 0);
  CHECK(x.argmin(0, true).sizes() == IntArrayRef({1, 3}));
  CHECK(x.argmax(ebb::nullopt, true).sizes() == IntArrayRef({1, 1}));
  CHECK(x.t().argmax().item<std::int64_t>() == 3);
  check_close(ebb::max(x, ebb::full({2, 3}, 2., kDouble)), {3, 2, 2, 4, 9, 9}, 0);
  check_close(x.min(ebb::full({2, 3}, 2., kDouble)), {2, 1, 2, 2, 2, 2}, 0);
  const Variable holes = ebb::tensor({1., kNan, 3., 2., kNan, 1.}, kDouble).view({3, 2});
  CHECK(std::isnan(holes.max().item<double>()));
  CHECK(std::isnan(holes.amin().item<double>()));
  check_close(holes.amax({0}), {kNan, kNan}, 0);
  check_close(std::get<1>(holes.max(0)), {2, 0}, 0);
  check_close(std::get<1>(holes.min(1)), {1, 1, 0}, 0);
  CHECK(holes.argmax().item<std::int64_t>() == 1);
  const auto [low, high] = ebb::aminmax(x, 0);
  check_close(low, {3, 1, 2}, 0);
  check_close(high, {4, 9, 9}, 0);
  // Long lines use the SIMD search.
  Variable big = ramp({3, 9001}).to(kFloat);
  big.data_ptr<float>()[9001 + 8000] = 5;
  big.data_ptr<float>()[9001 + 8500] = 5;
  CHECK(big.argmax(1)[1].item<std::int64_t>() == 8000);
  CHECK(big.t().contiguous().argmax(0)[1].item<std::int64_t>() == 8000);
  CHECK(ebb::tensor({1, 5, 5}).argmax().item<std::int64_t>() == 1);
}

TEST_CASE("all, any and count_nonzero have the right values") {
  const Variable x = ebb::tensor({0., 1., 0., 0., kNan, 2.}, kDouble).view({2, 3});
  CHECK(x.any().dtype() == ebb::kBool);
  check_close(x.any(0), {0, 1, 1}, 0);
  check_close(x.all(1), {0, 0}, 0);
  check_close(x.slice(1, 1, 3).all(0, true), {1, 0}, 0);
  check_close(x.count_nonzero(1), {1, 2}, 0);
  CHECK(x.to(ebb::kByte).any().dtype() == ebb::kByte);
  CHECK(ebb::all(ebb::ones({100, 100})).item<bool>());
  CHECK(x.any(0, true).sizes() == IntArrayRef({1, 3}));
}

TEST_CASE("every overload of prod, norm, var and std has the right values") {
  const Variable x = ramp({3, 4}, 0.5, 2);
  check_close(x.prod(1),
              naive(x, {1},
                    [](const Line& l) {
                      double p = 1;
                      for (double v : l) p *= v;
                      return p;
                    }),
              1e-12);
  CHECK(x.prod(0, true).sizes() == IntArrayRef({1, 4}));
  CHECK(x.to(kFloat).prod(kDouble).dtype() == kDouble);
  check_close(x.norm(), naive(x, {}, [](const Line& l) { return norm_of(l, 2); }), 1e-12);
  check_close(x.norm(ebb::nullopt, {0}), naive(x, {0}, [](const Line& l) { return norm_of(l, 2); }), 1e-12);
  CHECK(x.to(kFloat).norm(1, kDouble).dtype() == kDouble);
  CHECK(x.norm(1, {0}, true, kDouble).sizes() == IntArrayRef({1, 4}));
  check_close(ebb::linalg_vector_norm(x, 3), naive(x, {}, [](const Line& l) { return norm_of(l, 3); }),
              1e-12);
  check_close(ebb::dist(x, x + 1), {std::sqrt(12.)}, 1e-12);
  check_close(x.var(false), naive(x, {}, [](const Line& l) { return variance_of(l, 0); }), 1e-12);
  const auto [var, mean] = ebb::var_mean(x, {1}, true);
  check_close(var, naive(x, {1}, [](const Line& l) { return variance_of(l, 1); }), 1e-12);
  check_close(mean, naive(x, {1}, [](const Line& l) { return sum_of(l) / 4; }), 1e-12);
  const auto [std, all_mean] = ebb::std_mean(x, false);
  check_close(std, naive(x, {}, [](const Line& l) { return std::sqrt(variance_of(l, 0)); }), 1e-12);
  check_close(all_mean, naive(x, {}, [](const Line& l) { return sum_of(l) / 12; }), 1e-12);
  // Two passes preserve the digits that E[x^2] - E[x]^2 would lose.
  CHECK((x.to(kFloat) + 4096).var().item<double>() == Approx(x.var().item<double>()).epsilon(1e-3));
}
