// softmax and scans: values, dtypes, derivatives, in-place forms, zeros, infinities, NaN.
#include "check.h"

#include <memory>
#include <vector>

// Scans: values, derivatives, zeros, NaN, in-place forms.

using namespace reduce_test;
using ebb::kDouble;

namespace {

template <class Step>
std::vector<double> naive_scan(const Variable& x, std::int64_t dim, double start, Step step) {
  std::vector<double> v = elements(x);
  std::int64_t inner = 1;
  for (std::int64_t d = dim + 1; d < x.dim(); ++d) inner *= x.size(d);
  const std::int64_t n = x.size(dim), outer = x.numel() / (n * inner);
  for (std::int64_t o = 0; o < outer; ++o)
    for (std::int64_t i = 0; i < inner; ++i) {
      double carry = start;
      for (std::int64_t k = 0; k < n; ++k) {
        double& value = v[static_cast<std::size_t>((o * n + k) * inner + i)];
        value = carry = step(carry, value);
      }
    }
  return v;
}

Variable vector(std::initializer_list<double> values) {
  return ebb::tensor(std::vector<double>(values), kDouble);
}

}  // namespace

TEST_CASE("scans equal plain loops for every shape, dimension and layout") {
  for (const std::vector<std::int64_t>& sizes :
       std::vector<std::vector<std::int64_t>>{{1}, {9}, {3, 5}, {2, 3, 4}, {4, 7, 150}, {150, 3}}) {
    const Variable x = ramp(sizes, -1.5, 1.5);
    for (std::int64_t d = 0; d < x.dim(); ++d)
      for (const Variable& t : {x, x.transpose(0, -1)}) {
        check_close(t.cumsum(d), naive_scan(t, d, 0, [](double a, double b) { return a + b; }), 1e-13);
        check_close(t.cumprod(d - t.dim()), naive_scan(t, d, 1, [](double a, double b) { return a * b; }),
                    1e-13);
        check_close(
            t.logcumsumexp(d),
            naive_scan(t, d, -kInf, [](double a, double b) { return std::log(std::exp(a) + std::exp(b)); }),
            1e-13);
        check_close(std::get<0>(t.cummax(d)),
                    naive_scan(t, d, -kInf, [](double a, double b) { return std::max(a, b); }), 0);
        check_close(std::get<0>(t.cummin(d)),
                    naive_scan(t, d, kInf, [](double a, double b) { return std::min(a, b); }), 0);
      }
  }
}

TEST_CASE("scans have the right first and second derivatives") {
  const Variable x = ramp({2, 3, 2}, -2, 2);
  for (std::int64_t d = 0; d < 3; ++d) {
    check_derivatives([=](const Variable& t) { return t.cumsum(d) * t; }, x);
    check_derivatives([=](const Variable& t) { return t.cumprod(d); }, x);
    check_derivatives([=](const Variable& t) { return t.logcumsumexp(d); }, x);
    check_derivatives([=](const Variable& t) { return std::get<0>(t.cummax(d)); }, x);
    check_derivatives([=](const Variable& t) { return std::get<0>(t.cummin(d)) * 2; }, x);
    check_derivatives([=](const Variable& t) { return ebb::diff(t, 1, d).square(); }, x);
  }
  for (const Variable& z : {vector({2, 0, 3, 4}), vector({2, 0, 3, 0, 5}), vector({0, 0}), vector({3})})
    check_derivatives([](const Variable& t) { return t.cumprod(0); }, z);
  check_close(gradient([](const Variable& t) { return t.cumprod(0).select(0, 3); }, vector({2, 0, 3, 4})),
              {0, 24, 0, 0}, 0);
  check_derivatives([](const Variable& t) { return t.logcumsumexp(0); }, vector({3, -50, 4, 1, 60}));
  // Values so far apart that exponentials overflow.
  check_close(gradient([](const Variable& t) { return t.logcumsumexp(0).select(0, 3); },
                       vector({700, 800, -1000, 801})),
              {std::exp(-101) / (1 + std::exp(-1)), 1 / (1 + std::exp(1)), 0, 1 / (1 + std::exp(-1))}, 1e-13);
}

TEST_CASE("linear_recurrence runs in both directions and is twice differentiable") {
  const Variable x = vector({1, 2, 3}), links = vector({10, 100});
  check_close(ebb::linear_recurrence(x, links, 0), {1, 12, 1203}, 0);
  check_close(ebb::linear_recurrence(x, links, 0, true), {3021, 302, 3}, 0);
  for (bool reverse : {false, true}) {
    const auto f = [=](const ebb::variable_list& in) -> ebb::variable_list {
      return {ebb::linear_recurrence(in[0], in[1], 1, reverse)};
    };
    const ebb::variable_list in = {ramp({2, 4, 2}).requires_grad_(true),
                                   ramp({2, 3, 2}, -1, 1, 0.8).requires_grad_(true)};
    CHECK(ebb::gradcheck(f, in));
    CHECK(ebb::gradgradcheck(f, in));
  }
  CHECK_THROWS_WITH(ebb::linear_recurrence(x, x, 0),
                    support::Contains("linear_recurrence: expected one factor between every two"));
}

TEST_CASE("cummax and cummin have the right indices for ties and NaN") {
  const Variable v = vector({1, 3, 3, 2, 5, 5});
  check_close(std::get<1>(v.cummax(0)), {0, 1, 2, 2, 4, 5}, 0);
  check_close(std::get<1>((-v).cummin(0)), {0, 1, 2, 2, 4, 5}, 0);
  check_close(std::get<0>(vector({1, kNan, 3, 4}).cummax(0)), {1, kNan, kNan, kNan}, 0);
  check_close(std::get<1>(vector({1, kNan, 3, kNan}).cummin(0)), {0, 1, 1, 3}, 0);
  check_close(gradient([](const Variable& t) { return std::get<0>(t.cummax(0)); }, v), {1, 1, 2, 0, 1, 1}, 0);
}

TEST_CASE("scans have the dtypes of torch and accept empty and 0-dimensional tensors") {
  CHECK(ebb::tensor({1, 2, 3}, ebb::kInt).cumsum(0).dtype() == ebb::kLong);
  check_close(ebb::tensor({true, true, false}).cumsum(0), {1, 2, 2}, 0);
  CHECK(ebb::tensor({1, 2}).cumsum(0, kDouble).dtype() == kDouble);
  check_close(ebb::tensor({2, 3, 4}).cumprod(0), {2, 6, 24}, 0);
  CHECK(ebb::tensor(3.5).cumsum(0).item<double>() == 3.5);
  CHECK(ebb::zeros({0, 2}).cumsum(0).sizes() == ebb::IntArrayRef({0, 2}));
  CHECK_THROWS_MATCHES(ramp({2}).cumsum(1), ebb::IndexError,
                       support::Saying("cumsum: Dimension out of range (expected to be in range"));
  CHECK_THROWS_WITH(ebb::tensor({1, 2}).logcumsumexp(0),
                    support::Contains("logcumsumexp: dtype Long is not supported; expected a"));
  // The running sum is in double.
  CHECK(ebb::full({1000000}, 0.1, ebb::kFloat).cumsum(0)[999999].item<double>() ==
        Approx(100000.0015).epsilon(1e-7));
}

TEST_CASE("in-place scans equal the out-of-place scans") {
  Variable w = vector({1, 2, 3});
  w.cumsum_(0);
  check_close(w, {1, 3, 6}, 0);
  w.cumprod_(0);
  check_close(w, {1, 3, 18}, 0);
  const Variable x = vector({2, 0, 3}).requires_grad_(true);
  Variable y = x * 1;
  y.cumprod_(0);
  CHECK(name_of(y) == "CumprodBackward0");
  y.sum().backward();
  check_close(x.grad(), {1, 8, 0}, 0);
  Variable z = x * 1;
  z.cumsum_(0);
  check_close(ebb::autograd::grad({z.sum()}, {x})[0], {3, 2, 1}, 0);
  CHECK_THROWS_WITH(x.cumsum_(0),
                    support::Contains("cumsum_: a leaf Variable that requires grad is being used"));
  CHECK_THROWS_WITH(w.cumsum_(0, ebb::kFloat),
                    support::Contains("cumsum_: Bad in-place call: the tensor is of dtype Double"));
  Variable ints = ebb::tensor({1, 2}, ebb::kInt);
  CHECK(ints.cumsum_(0).dtype() == ebb::kInt);
}

TEST_CASE("diff has the right values") {
  const Variable v = vector({1, 3, 6, 10});
  check_close(v.diff(), {2, 3, 4}, 0);
  check_close(v.diff(2), {1, 1}, 0);
  check_close(ebb::diff(v, 1, -1, vector({0})), {1, 2, 3, 4}, 0);
  check_close(v.diff(1, 0, {}, vector({0})), {2, 3, 4, -10}, 0);
  CHECK(v.diff(9).numel() == 0);
  check_close(ebb::tensor({true, false, false}).diff(), {1, 0}, 0);
  CHECK_THROWS_WITH(ebb::tensor(1.).diff(),
                    support::Contains("diff: expected a tensor of at least one dimension, got"));
}

// softmax and log_softmax: values, layouts, dtypes, derivatives, infinities.

using ebb::kFloat;

namespace {

std::vector<double> naive_softmax(const Variable& x, std::int64_t dim, bool log) {
  const std::vector<double> v = elements(x);
  std::int64_t inner = 1;
  for (std::int64_t d = dim + 1; d < x.dim(); ++d) inner *= x.size(d);
  const std::int64_t n = x.dim() == 0 ? 1 : x.size(dim);
  std::vector<double> out(v.size());
  for (std::size_t i = 0; i < v.size(); ++i) {
    const std::size_t start = i / static_cast<std::size_t>(inner * n) * static_cast<std::size_t>(inner * n) +
                              i % static_cast<std::size_t>(inner);
    double total = 0;
    for (std::int64_t k = 0; k < n; ++k) total += std::exp(v[start + static_cast<std::size_t>(k * inner)]);
    out[i] = log ? v[i] - std::log(total) : std::exp(v[i]) / total;
  }
  return out;
}

}  // namespace

TEST_CASE("softmax equals plain loops for every shape, dimension and layout") {
  for (const std::vector<std::int64_t>& sizes : std::vector<std::vector<std::int64_t>>{
           {7}, {1}, {3, 5}, {5, 200}, {200, 5}, {2, 3, 4}, {2, 5, 70}, {3, 300, 9}, {2, 5000}}) {
    const Variable x = ramp(sizes, -4, 4);
    for (std::int64_t d = 0; d < x.dim(); ++d) {
      for (const Variable& t : {x, x.transpose(0, -1)}) {
        check_close(t.softmax(d), naive_softmax(t, d, false), 1e-13);
        check_close(t.log_softmax(d), naive_softmax(t, d, true), 1e-13);
        check_close(t.to(kFloat).softmax(d), naive_softmax(t, d, false), 1e-6);
        check_close(t.to(kFloat).log_softmax(d - t.dim()), naive_softmax(t, d, true), 2e-6);
        check_close(t.to(ebb::kHalf).softmax(d), naive_softmax(t.to(ebb::kHalf), d, false), 1e-3);
      }
    }
  }
  CHECK(ebb::tensor(3., kDouble).softmax(0).item<double>() == 1);
  CHECK(ebb::tensor(3., kDouble).log_softmax(-1).item<double>() == 0);
}

TEST_CASE("softmax of very large and infinite values is right") {
  const Variable far = ebb::tensor({1000., 999., -1000.}, kDouble);
  check_close(far.softmax(0), {1 / (1 + std::exp(-1)), 1 / (1 + std::exp(1)), 0}, 1e-14);
  check_close(far.log_softmax(0),
              {-std::log1p(std::exp(-1)), -1 - std::log1p(std::exp(-1)), -2000 - std::log1p(std::exp(-1))},
              1e-14);
  check_close(ebb::tensor({-kInf, 1., 1.}, kDouble).softmax(0), {0, 0.5, 0.5}, 0);
  check_close(ebb::tensor({-kInf, 1., 1.}, kFloat).softmax(0), {0, 0.5, 0.5}, 1e-7);
  const Variable masked = ebb::full({40, 40}, -kInf).fill_diagonal_(3);  // more than the registers hold
  for (const ebb::DType dtype : {kFloat, kDouble})
    for (const std::int64_t dim : {0, 1})
      CHECK(ebb::equal(masked.to(dtype).softmax(dim), ebb::eye(40, dtype)));
  check_close(ebb::full({2}, -kInf, kDouble).softmax(0), {kNan, kNan}, 0);
  check_close(ebb::tensor({kNan, 1.}, kDouble).softmax(0), {kNan, kNan}, 0);
}

TEST_CASE("softmax has the right first and second derivatives") {
  for (const Variable& x : {ramp({2, 3}, -2, 2), ramp({3, 2, 9}, -2, 2)})
    for (std::int64_t d = 0; d < x.dim(); ++d) {
      check_derivatives([=](const Variable& t) { return t.softmax(d); }, x);
      check_derivatives([=](const Variable& t) { return t.log_softmax(d); }, x);
      check_derivatives([=](const Variable& t) { return t.transpose(0, 1).softmax(d).exp(); }, x);
      // The gradient op alone, with second derivatives for both of its inputs.
      const Variable y = (x * 0.7).requires_grad_(true), g = ramp(x.sizes(), 0, 1, 0.9).requires_grad_(true);
      for (const bool log : {false, true}) {
        const auto f = [=](const ebb::variable_list& in) -> ebb::variable_list {
          return {(log ? ebb::_log_softmax_backward_data : ebb::_softmax_backward_data)(in[0], in[1], d,
                                                                                        kDouble)};
        };
        CHECK(ebb::gradcheck(f, {g, y.detach().requires_grad_(true)}));
        CHECK(ebb::gradgradcheck(f, {g, y.detach().requires_grad_(true)}));
      }
    }
}

TEST_CASE("softmax has the dtypes of torch and throws for invalid arguments") {
  CHECK(ebb::softmax(ebb::tensor({1, 2, 3}), 0, kDouble).dtype() == kDouble);
  CHECK(ebb::softmax(ebb::zeros({0, 3}), 1).sizes() == ebb::IntArrayRef({0, 3}));
  CHECK_THROWS_WITH(ebb::softmax(ebb::tensor({1, 2}), 0),
                    support::Contains("softmax: expected a floating-point tensor, got Long[2] on"));
  CHECK_THROWS_MATCHES(ebb::softmax(ramp({2}), 1), ebb::IndexError,
                       support::Saying("softmax: Dimension out of range (expected to be in range"));
  const Variable half = ramp({4}).to(ebb::kHalf).requires_grad_(true);
  const Variable wide = ebb::_softmax(half, 0, true);
  CHECK(wide.dtype() == kFloat);
  wide.select(0, 0).backward();
  CHECK(half.grad().dtype() == ebb::kHalf);
  const Variable x = ramp({4}).to(kFloat).requires_grad_(true);
  x.softmax(0, kDouble).select(0, 1).backward();
  CHECK(x.grad().dtype() == kFloat);
}

TEST_CASE("softmax along strided lines is bitwise equal for every buffer address") {
  for (const std::int64_t n : {4, 9, 20}) {
    const Variable x = ebb::randn({n, 3}, kDouble), expected = ebb::softmax(x, 0);
    std::vector<std::unique_ptr<char[]>> between;  // moves the next buffer to another address
    int others = 0;
    for (std::size_t i = 0; i < 64; ++i) {
      between.push_back(std::make_unique<char[]>(16 * i + 8));
      others += !ebb::equal(ebb::softmax(x, 0), expected);
    }
    CHECK(others == 0);
  }
}

// softmax with another dtype than that of its input.

using op_tests::node_name;

TEST_CASE("softmax of 16-bit inputs with dtype Float has a gradient in the dtype of the input") {
  const Variable x = op_tests::ramp({3, 4}).to(ebb::kHalf);
  const Variable y = ebb::_softmax(x, 1, true), z = ebb::_log_softmax(x, 1, true);
  CHECK(y.dtype() == ebb::kFloat);
  CHECK(ebb::_softmax_backward_data(ebb::ones_like(y), y, 1, ebb::kHalf).dtype() == ebb::kHalf);
  CHECK(ebb::_log_softmax_backward_data(ebb::ones_like(z), z, 1, ebb::kHalf).dtype() == ebb::kHalf);
  const Variable leaf = x.detach().clone().set_requires_grad(true);
  for (const Variable& out : {ebb::_softmax(leaf, 1, true), ebb::_log_softmax(leaf, 1, true)}) {
    const Variable grad = ebb::autograd::grad({out}, {leaf}, {ebb::ones_like(out)}, ebb::nullopt, true)[0];
    CHECK(grad.dtype() == ebb::kHalf);
    CHECK_THAT(node_name(grad), support::Contains("oftmaxBackwardDataBackward"));
  }
}
