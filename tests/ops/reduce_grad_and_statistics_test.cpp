// Reductions: derivatives, ties, zeros, NaN and node names; histograms, covariances, segment_reduce, gradient
// and nextafter.
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise/parts.h>
#include <ebb/ops/index.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/special.h>

#include "check.h"

using namespace reduce_test;
using namespace ebb;

// Reductions: first and second derivatives, ties, zeros, NaN, node names.

namespace {

Variable vector(std::initializer_list<double> values) {
  return ebb::tensor(std::vector<double>(values), kDouble);
}

}  // namespace

TEST_CASE("reductions have the right first and second derivatives") {
  const Variable x = ramp({2, 3, 2}, -2, 2);
  struct Case {
    const char* name;
    Variable (*call)(const Variable&);
  };
  const Case cases[] = {
      {"sum", [](const Variable& t) { return t.sum(); }},
      {"sum.dims", [](const Variable& t) { return t.sum({0, 2}); }},
      {"sum.keep", [](const Variable& t) { return t.sum({1}, true); }},
      {"mean", [](const Variable& t) { return t.mean(); }},
      {"mean.dim", [](const Variable& t) { return t.mean(-1); }},
      {"prod", [](const Variable& t) { return t.prod(); }},
      {"prod.dim", [](const Variable& t) { return t.prod(1, true); }},
      {"max", [](const Variable& t) { return t.max(); }},
      {"min.dim", [](const Variable& t) { return std::get<0>(t.min(1)); }},
      {"max.keep", [](const Variable& t) { return std::get<0>(t.max(0, true)); }},
      {"amax", [](const Variable& t) { return t.amax({0, 1}); }},
      {"amin", [](const Variable& t) { return t.amin({2}, true); }},
      {"aminmax",
       [](const Variable& t) {
         const auto [low, high] = t.aminmax(1);
         return low * high;
       }},
      {"var", [](const Variable& t) { return t.var(); }},
      {"var.dims", [](const Variable& t) { return t.var({1, 2}, false, true); }},
      {"std", [](const Variable& t) { return t.std({1}); }},
      {"var_mean",
       [](const Variable& t) {
         const auto [var, mean] = ebb::var_mean(t, {1, 0}, true);
         return var * mean;
       }},
      {"std_mean",
       [](const Variable& t) {
         const auto [std, mean] = ebb::std_mean(t);
         return std * mean;
       }},
      {"norm", [](const Variable& t) { return t.norm(); }},
      {"norm.1", [](const Variable& t) { return t.norm(1, {1}); }},
      {"norm.0.5", [](const Variable& t) { return t.norm(0.5, {1}); }},
      {"norm.1.5", [](const Variable& t) { return t.norm(1.5, {0, 2}, true); }},
      {"norm.3", [](const Variable& t) { return t.norm(3); }},
      {"norm.inf", [](const Variable& t) { return t.norm(kInf, {1}); }},
      {"norm.-inf", [](const Variable& t) { return t.norm(-kInf, {1}); }},
      {"logsumexp", [](const Variable& t) { return t.logsumexp({0, 2}); }},
      {"nansum", [](const Variable& t) { return t.nansum(1) * 2; }},
      {"nanmean", [](const Variable& t) { return t.nanmean(1); }},
  };
  for (const Case& c : cases) {
    INFO(c.name);
    check_derivatives(c.call, x);
    check_derivatives(c.call, x.transpose(0, 2));
  }
}

TEST_CASE("gradients of reductions have the dtype of the input") {
  const Variable x = ramp({2, 3}).to(ebb::kFloat).requires_grad_(true);
  x.sum(kDouble).backward();
  CHECK(x.grad().dtype() == ebb::kFloat);
  x.prod(0, false, kDouble).sum().backward();
  x.norm(2, kDouble).backward();
  CHECK(x.grad().dtype() == ebb::kFloat);
}

TEST_CASE("ties share the gradient of max() and amax, while max(dim) gives it to the first of them") {
  const Variable x = vector({3, 1, 3, 0});
  check_close(gradient([](const Variable& t) { return t.max(); }, x), {0.5, 0, 0.5, 0}, 0);
  check_close(gradient([](const Variable& t) { return t.amax({0}); }, x), {0.5, 0, 0.5, 0}, 0);
  check_close(gradient([](const Variable& t) { return std::get<0>(t.max(0)); }, x), {1, 0, 0, 0}, 0);
  check_close(gradient([](const Variable& t) { return t.norm(kInf, {0}); }, vector({2, -2, 1})),
              {0.5, -0.5, 0}, 0);
}

TEST_CASE("reductions of inputs with NaN have the gradients of torch") {
  const Variable x = vector({1, kNan, 3});
  check_close(gradient([](const Variable& t) { return t.max(); }, x), {0, 1, 0}, 0);
  check_close(gradient([](const Variable& t) { return std::get<0>(t.min(0)); }, x), {0, 1, 0}, 0);
  check_close(gradient([](const Variable& t) { return t.nansum(); }, x), {1, 0, 1}, 0);
  check_close(gradient([](const Variable& t) { return t.nanmean(); }, x), {0.5, 0, 0.5}, 0);
  check_close(gradient([](const Variable& t) { return t.norm(kInf, {0}); }, x), {0, 0, 0}, 0);
}

TEST_CASE("prod is differentiable at zeros") {
  const auto prod = [](const Variable& t) { return t.prod(); };
  check_close(gradient(prod, vector({2, 0, 3})), {0, 6, 0}, 0);
  check_close(gradient(prod, vector({2, 0, 0})), {0, 0, 0}, 0);
  for (const Variable& x : {vector({2, 0, 3}), vector({2, 0, 0, 4}), vector({0, 0, 0}), vector({5})})
    check_derivatives(prod, x);
  const Variable rows = ebb::stack({vector({2, 0, 3}), vector({0, 0, 4}), vector({1, 2, 3})});
  check_derivatives([](const Variable& t) { return t.prod(1); }, rows);
  check_derivatives([](const Variable& t) { return t.prod(0, true); }, rows);
  check_close(gradient(prod, ebb::tensor(3., kDouble)), {1}, 0);
}

TEST_CASE("norm, std and logsumexp have the subgradients of torch at their kinks") {
  const Variable zeros = ebb::zeros({3}, kDouble);
  for (double p : {0.5, 1., 1.5, 2., 3.})
    check_close(gradient([&](const Variable& t) { return t.norm(p); }, zeros), {0, 0, 0}, 0);
  check_close(gradient([](const Variable& t) { return t.std(); }, ebb::ones({3}, kDouble)), {0, 0, 0}, 0);
  check_close(gradient([](const Variable& t) { return t.logsumexp(0); }, vector({-kInf, -kInf, 1})),
              {0, 0, 1}, 0);
  const Variable low = vector({-kInf, -kInf});
  CHECK(low.logsumexp(0).item<double>() == -kInf);
  check_close(gradient([](const Variable& t) { return t.logsumexp(0); }, low), {kNan, kNan}, 0);
}

TEST_CASE("reductions of empty tensors have empty gradients") {
  for (auto f : {+[](const Variable& t) { return t.sum(); }, +[](const Variable& t) { return t.mean(); },
                 +[](const Variable& t) { return t.prod(); }, +[](const Variable& t) { return t.norm(); }}) {
    const Variable grad = gradient(f, ebb::zeros({0, 3}, kDouble));
    CHECK(grad.sizes() == ebb::IntArrayRef({0, 3}));
  }
}

TEST_CASE("graph nodes of reductions have the names of torch") {
  const Variable x = ramp({2, 3}, 1, 2).requires_grad_(true);
  CHECK(name_of(x.sum()) == "SumBackward0");
  CHECK(name_of(x.sum(1)) == "SumBackward1");
  CHECK(name_of(x.mean()) == "MeanBackward0");
  CHECK(name_of(x.mean(0)) == "MeanBackward1");
  CHECK(name_of(x.prod()) == "ProdBackward0");
  CHECK(name_of(x.prod(0)) == "ProdBackward1");
  CHECK(name_of(x.max()) == "MaxBackward1");
  CHECK(name_of(std::get<0>(x.max(0))) == "MaxBackward0");
  CHECK(name_of(x.min()) == "MinBackward1");
  CHECK(name_of(std::get<0>(x.min(0))) == "MinBackward0");
  CHECK(name_of(x.amax()) == "AmaxBackward0");
  CHECK(name_of(x.amin()) == "AminBackward0");
  CHECK(name_of(x.var()) == "VarBackward0");
  CHECK(name_of(x.std(1)) == "StdBackward0");
  CHECK(name_of(std::get<1>(ebb::var_mean(x))) == "VarMeanBackward0");
  CHECK(name_of(std::get<0>(ebb::std_mean(x))) == "StdMeanBackward0");
  CHECK(name_of(x.norm()) == "NormBackward0");
  CHECK(name_of(x.norm(2, {1})) == "NormBackward1");
  CHECK(name_of(x.norm(2, ebb::kDouble)) == "NormBackward2");
  CHECK(name_of(x.norm(2, {1}, false, ebb::kDouble)) == "NormBackward3");
  CHECK(name_of(x.logsumexp(1)) == "LogsumexpBackward0");
  CHECK(name_of(x.nansum()) == "NansumBackward0");
  CHECK(name_of(x.median()) == "MedianBackward0");
  CHECK(name_of(std::get<0>(x.median(0))) == "MedianBackward1");
  CHECK(name_of(x.cumsum(0)) == "CumsumBackward0");
  CHECK(name_of(x.cumprod(0)) == "CumprodBackward0");
  CHECK(name_of(std::get<0>(x.cummax(0))) == "CummaxBackward0");
  CHECK(name_of(x.logcumsumexp(0)) == "LogcumsumexpBackward0");
  CHECK(name_of(x.softmax(0)) == "SoftmaxBackward0");
  CHECK(name_of(x.log_softmax(0)) == "LogSoftmaxBackward0");
  CHECK(name_of(std::get<0>(x.sort())) == "SortBackward0");
  CHECK(name_of(std::get<0>(x.sort(ebb::optional<bool>(true), 0))) == "SortBackward1");
  CHECK(name_of(std::get<0>(x.topk(1))) == "TopkBackward0");
  CHECK(name_of(std::get<0>(x.kthvalue(1))) == "KthvalueBackward0");
  CHECK(name_of(std::get<0>(x.mode())) == "ModeBackward0");
  CHECK_FALSE(std::get<1>(x.max(0)).requires_grad());
}

// Histograms, covariances, segment_reduce, gradient and nextafter in cases that the op table does not cover:
// limits, empty parts, other dtypes.

namespace {

void require_close(const Variable& got, const Variable& expected) {
  INFO("got " << got << "\nexpected " << expected);
  CHECK(allclose(got.to(kDouble), expected.to(kDouble), 1e-6, 1e-6, true));
}

}  // namespace

TEST_CASE("the bins of histogram without a range span the values") {  // torch 2.15
  const auto [sums, edges] = histogram(tensor({1.0f, 2.0f, 1.0f, 4.0f}), 3);
  require_close(sums, tensor({2, 1, 1}));
  require_close(edges, tensor({1, 2, 3, 4}));
  const auto [one, around] = histogram(tensor({1.0f, 1.0f}), 2);
  require_close(one, tensor({0, 2}));
  require_close(around, tensor({0.5, 1.0, 1.5}));
  const auto [none, unit] = histogram(empty({0}), 2);
  require_close(none, tensor({0, 0}));
  require_close(unit, tensor({0.0, 0.5, 1.0}));
  const Variable points = tensor({0.0f, 1.0f, 1.0f, 0.0f, 2.0f, 2.0f}).view({3, 2});
  const auto [grid, both] = histogramdd(points, 2, nullopt, {}, true);
  require_close(grid, tensor({0.0, 1.0 / 3, 1.0 / 3, 1.0 / 3}).view({2, 2}));
  REQUIRE(both.size() == 2);
  require_close(both[1], tensor({0, 1, 2}));
  const std::vector<Variable> given = {tensor({0.0f, 1.5f}), tensor({0.5f, 1.0f, 3.0f})};
  require_close(std::get<0>(histogramdd(points, given)), tensor({0, 1}).view({1, 2}));
  // A float that counts in steps of one stops at 2^24.
  CHECK(std::get<0>(histogram(zeros({(1 << 24) + 3}), 1)).item<float>() == float((1 << 24) + 4));
}

TEST_CASE("cov and corrcoef accept weights, vectors and zero degrees of freedom") {  // torch 2.15
  const Variable x = tensor({1.0, 2.0, 4.0, 3.0, 1.0, 0.0}).view({2, 3}).to(kDouble);
  require_close(cov(x), tensor({7.0 / 3, -13.0 / 6, -13.0 / 6, 7.0 / 3}).view({2, 2}));
  const Variable weighted = cov(x, 1, tensor({1, 2, 1}, kLong), tensor({0.5, 1.0, 2.0}, kDouble));
  require_close(weighted, tensor({1.857142857, -1.357142857, -1.357142857, 1.214285714}).view({2, 2}));
  CHECK(cov(x[0]).dim() == 0);
  CHECK(cov(x[0]).item<double>() == Approx(7.0 / 3));
  CHECK(corrcoef(x[0]).item<double>() == 1);
  require_close(corrcoef(x), tensor({1.0, -13.0 / 14, -13.0 / 14, 1.0}).view({2, 2}));
  struct Counter : WarningHandler {
    int count = 0;
    void process(const Warning&) override { ++count; }
  } counter;
  const WarningHandlerGuard guard(&counter);
  CHECK(std::isinf(cov(x, 5)[0][0].item<double>()));
  CHECK(counter.count == 1);
}

TEST_CASE(
    "segment_reduce gives empty segments the identity and combines every segment with initial") {  // torch 2.15
  const Variable x = tensor({1.0f, 2.0f, 3.0f, 4.0f}), lengths = tensor({1, 0, 3}, kLong);
  require_close(segment_reduce(x, "mean", lengths), tensor({1.0, double(NAN), 3.0}));
  require_close(segment_reduce(x, "mean", lengths, {}, {}, 0, false, Scalar(1)),
                tensor({2.0, 1.0, 10.0 / 3}));
  require_close(segment_reduce(x, "max", lengths), tensor({1.0, -double(INFINITY), 4.0}));
  require_close(segment_reduce(x, "min", lengths), tensor({1.0, double(INFINITY), 2.0}));
  require_close(segment_reduce(x, "prod", lengths, {}, {}, 0, false, Scalar(2)), tensor({2, 2, 48}));
}

TEST_CASE("gradient and trapezoid of integers are floating and accept empty tensors") {  // torch 2.15
  const Variable squares = tensor({1, 4, 9, 16}, kLong);
  require_close(gradient(squares)[0], tensor({3, 4, 6, 7}));
  CHECK(gradient(squares)[0].dtype() == kFloat);
  CHECK(trapezoid(tensor({1, 2, 4}, kLong)).item<float>() == 4.5f);
  require_close(cumulative_trapezoid(tensor({1, 2, 4}, kLong)), tensor({1.5, 4.5}));
  CHECK(trapezoid(empty({3, 0})).sizes() == IntArrayRef({3}));
  CHECK(gradient(ones({3, 4, 5}), IntArrayRef({2, 0})).size() == 2);
}

TEST_CASE("nextafter of 16-bit values returns the adjacent 16-bit value") {
  for (const DType dtype : {kHalf, kBFloat16}) {
    const double step = dtype == kHalf ? 0x1p-10 : 0x1p-7, least = dtype == kHalf ? 0x1p-24 : 0x1p-133;
    const double most = dtype == kHalf ? 65504 : 3.3895313892515355e38;
    const auto next = [&](double a, double b) {
      return nextafter(full({}, a, dtype), full({}, b, dtype)).item<double>();
    };
    INFO(dtype);
    CHECK(next(1, 2) == 1 + step);
    CHECK(next(1, 0) == 1 - step / 2);
    CHECK(next(-1, -2) == -1 - step);
    CHECK(next(-1, 5) == -1 + step / 2);
    CHECK(next(1.5, 0) == 1.5 - step);
    CHECK(next(0, 1) == least);
    CHECK(next(0, -1) == -least);
    CHECK(next(least, 0) == 0);
    CHECK(next(3, 3) == 3);
    CHECK(next(most, INFINITY) == INFINITY);
    CHECK(next(INFINITY, 0) == most);
    CHECK(std::isnan(next(NAN, 0)));
    // Visits every number from the smallest normal down to 0 once.
    const double normal = dtype == kHalf ? 0x1p-14 : 0x1p-126;
    double x = normal;
    int count = 0;
    for (; x > 0 && count < 5000; ++count) x = next(x, -1);
    CHECK(count == static_cast<int>(normal / least));
  }
}

TEST_CASE("frexp returns infinities, NaN and 0 unchanged with exponent 0") {
  const auto [mantissa, exponent] = frexp(tensor({INFINITY, NAN, 0.0f, -6.5f}));
  CHECK(exponent.dtype() == kInt);
  require_close(exponent, tensor({0, 0, 0, 3}));
  require_close(mantissa, tensor({double(INFINITY), double(NAN), 0.0, -0.8125}));
  CHECK(equal(isreal(ones({2, 2})), ones({2, 2}, kBool)));
  CHECK_FALSE(is_neg(ones({2})));
}

TEST_CASE("functions of ebb::special equal the functions without the namespace") {
  const Variable x = tensor({0.3, 0.6}, kDouble), n = tensor({2.0, 3.0}, kDouble);
  CHECK(equal(ebb::special::expit(x), sigmoid(x)));
  CHECK(equal(ebb::special::gammaln(x), lgamma(x)));
  CHECK(equal(ebb::special::psi(x), digamma(x)));
  CHECK(equal(ebb::special::gammainc(n, x), igamma(n, x)));
  CHECK(equal(ebb::special::gammaincc(n, x), igammac(n, x)));
  CHECK(equal(ebb::special::multigammaln(n, 2), mvlgamma(n, 2)));
  CHECK(equal(ebb::special::round(x * 10), round(x * 10)));
  CHECK(equal(ebb::special::logsumexp(x, 0), logsumexp(x, 0)));
  CHECK(equal(ebb::special::softmax(x, 0), softmax(x, 0)));
  CHECK(equal(ebb::special::modified_bessel_i1(x), special_i1(x)));
  CHECK(equal(ebb::special::xlogy(2, x), xlogy(2, x)));
  CHECK(equal(ebb::special::legendre_polynomial_p(x, 3),
              ebb::special::legendre_polynomial_p(x, full_like(x, 3))));
  CHECK(equal(ebb::special::hermite_polynomial_h(0.5, n),
              ebb::special::hermite_polynomial_h(full_like(n, 0.5), n)));
  CHECK(ebb::special::chebyshev_polynomial_t(ones({2}).requires_grad_(), 3).requires_grad() == false);
  CHECK(ebb::special::zeta(tensor({2}, kLong), tensor({1}, kLong)).dtype() == kFloat);
}
