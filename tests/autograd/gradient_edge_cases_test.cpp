// Gradients in special cases: ties, zeros, NaN, empty and broadcast tensors.
#include "autograd/semantics.h"

#include <cmath>
#include <limits>

using namespace semantics;

namespace {
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

template <class F>
Variable derivative(F f, std::vector<double> at) {
  Variable x = leaf(std::move(at));
  return grad({f(x).sum()}, {x})[0];
}
}  // namespace

TEST_CASE("gradients are summed over broadcast dimensions") {
  Variable a = ebb::ones({2, 1, 3}, ebb::kFloat64).requires_grad_();
  Variable b = ebb::ones({4, 1}, ebb::kFloat64).requires_grad_();
  (a * b * 2).sum().backward();
  REQUIRE(a.grad().sizes() == ebb::IntArrayRef({2, 1, 3}));
  REQUIRE(b.grad().sizes() == ebb::IntArrayRef({4, 1}));
  require_values(a.grad(), {8, 8, 8, 8, 8, 8});
  require_values(b.grad(), {12, 12, 12, 12});
}

TEST_CASE("the gradient of a tensor that is broadcast to no elements is zero") {
  Variable a = ebb::ones({4, 0}, ebb::kFloat64).requires_grad_();
  Variable b = ebb::ones({4, 1}, ebb::kFloat64).requires_grad_();
  (a + b).sum().backward();
  require_values(b.grad(), {0, 0, 0, 0});
  REQUIRE(a.grad().sizes() == ebb::IntArrayRef({4, 0}));
}

TEST_CASE("the gradient of a 0-dimensional tensor is 0-dimensional") {
  Variable x = ebb::tensor(3.0, ebb::kFloat64).requires_grad_();
  (x * x).backward();
  REQUIRE(x.grad().dim() == 0);
  require_values(x.grad(), {6});
}

TEST_CASE("an expanded gradient of stride 0 becomes a contiguous grad") {
  Variable x = leaf({1, 2, 3});
  x.sum().backward();
  x.sum().backward();
  require_values(x.grad(), {2, 2, 2});
  REQUIRE(x.grad().is_contiguous());
}

TEST_CASE("a transposed seed gives the right gradient and accumulates") {
  Variable x = ebb::arange(6, ebb::kFloat64).view({2, 3}).requires_grad_();
  const Variable seed = ebb::arange(6, ebb::kFloat64).view({3, 2}).t();
  (x * 2).backward(seed);
  (x * 2).backward(seed);
  require_values(x.grad(), {0, 8, 16, 4, 12, 20});
}

TEST_CASE("index_select and index add the gradients of an index that occurs twice") {
  Variable x = leaf({1, 2, 3});
  const Variable index = ebb::tensor({0, 0, 2});
  x.index_select(0, index).sum().backward();
  require_values(x.grad(), {2, 0, 1});
  x.mutable_grad().reset();
  x.index({index}).sum().backward();
  require_values(x.grad(), {2, 0, 1});
}

TEST_CASE("matmul over an inner dimension of size 0 is zero and its gradient has no elements") {
  Variable a = ebb::ones({2, 0}, ebb::kFloat64).requires_grad_(), b = ebb::ones({0, 3}, ebb::kFloat64);
  Variable c = a.matmul(b);
  require_values(c, {0, 0, 0, 0, 0, 0});
  c.sum().backward();
  REQUIRE(a.grad().sizes() == ebb::IntArrayRef({2, 0}));
}

TEST_CASE("for a tensor without elements, sum is 0, prod is 1, mean is NaN and max throws") {
  const Variable none = ebb::zeros({0}, ebb::kFloat64);
  require_values(none.sum(), {0});
  require_values(none.prod(), {1});
  require_values(none.mean(), {kNan});
  REQUIRE_THROWS_WITH(none.max(), support::Contains("max: Expected reduction dim to be specified for"));
}

TEST_CASE("the gradient of norm is 0 at zero, and equal maxima share the gradient of the infinity norm") {
  require_values(derivative([](const Variable& x) { return x.norm(); }, {0, 0}), {0, 0});
  require_values(derivative([](const Variable& x) { return x.norm(kInf); }, {2, -2, 1}), {0.5, -0.5, 0});
}

TEST_CASE("the gradient at zero is infinite for sqrt and 0 for abs and relu") {
  require_values(derivative([](const Variable& x) { return x.sqrt(); }, {0}), {kInf});
  require_values(derivative([](const Variable& x) { return x.abs(); }, {0}), {0});
  require_values(derivative([](const Variable& x) { return x.relu(); }, {0}), {0});
}

TEST_CASE("the gradient of pow at base 0 is 0 for exponent 0 and infinite for exponent 0.5") {
  require_values(derivative([](const Variable& x) { return x.pow(0); }, {0, 2}), {0, 0});
  require_values(derivative([](const Variable& x) { return x.pow(0.5); }, {0}), {kInf});
  Variable e = leaf({2, 0.5});
  require_values(grad({ebb::pow(ebb::zeros({2}, ebb::kFloat64), e).sum()}, {e})[0], {0, 0});
}

TEST_CASE(
    "equal maxima share the gradient of max, amax and maximum, but max(dim) and max_pool1d give it to the "
    "first") {
  require_values(derivative([](const Variable& x) { return x.max(); }, {1, 3, 3}), {0, 0.5, 0.5});
  require_values(derivative([](const Variable& x) { return x.amax(0); }, {1, 3, 3}), {0, 0.5, 0.5});
  require_values(derivative([](const Variable& x) { return std::get<0>(x.max(0)); }, {1, 3, 3}), {0, 1, 0});
  Variable a = leaf({1}), b = leaf({1});
  const auto g = grad({ebb::maximum(a, b)}, {a, b});
  require_values(g[0], {0.5});
  require_values(g[1], {0.5});
  require_values(derivative([](const Variable& x) { return x.clamp(0, 1); }, {-1, 0, 0.5, 1, 2}),
                 {0, 0, 1, 0, 0});
  require_values(
      derivative([](const Variable& x) { return ebb::max_pool1d(x.view({1, 1, 4}), 4); }, {3, 1, 3, 3}),
      {1, 0, 0, 0});
  require_values(derivative([](const Variable& x) { return ebb::hardtanh(x); }, {-1, 0, 1}), {0, 1, 0});
  require_values(derivative([](const Variable& x) { return ebb::relu6(x); }, {0, 3, 6}), {0, 1, 0});
  require_values(derivative([](const Variable& x) { return ebb::leaky_relu(x, 0.1); }, {0}), {0.1});
}

TEST_CASE("max of a tensor with a NaN returns NaN and passes its gradient to the NaN") {
  REQUIRE(std::isnan(ebb::tensor({1.0, kNan, 3.0}, ebb::kFloat64).max().item<double>()));
  require_values(derivative([](const Variable& x) { return std::get<0>(x.max(0)); }, {1, kNan, 3}),
                 {0, 1, 0});
}

TEST_CASE("prod and cumprod have the right gradient for inputs with one or two zeros") {
  require_values(derivative([](const Variable& x) { return x.prod(); }, {2, 0, 3}), {0, 6, 0});
  require_values(derivative([](const Variable& x) { return x.prod(); }, {2, 0, 0}), {0, 0, 0});
  require_values(derivative([](const Variable& x) { return x.cumprod(0); }, {2, 0, 3}), {1, 8, 0});
  require_values(derivative([](const Variable& x) { return x.cumprod(0); }, {2, 0, 0}), {1, 2, 0});
}

TEST_CASE("logsumexp is -inf if all elements are -inf") {
  require_values(ebb::logsumexp(ebb::tensor({-kInf, -kInf}, ebb::kFloat64), 0), {-kInf});
}

TEST_CASE("where passes no NaN from the branch that is not selected") {
  Variable x = leaf({0, 4});
  Variable y = ebb::where(x > 1, x.sqrt(), ebb::zeros_like(x));
  require_values(y, {0, 2});
  Variable z = leaf({1, 2}), bad = ebb::tensor({kNan, 5.0}, ebb::kFloat64);
  ebb::where(ebb::tensor({false, true}), z * bad, z).sum().backward();
  require_values(z.grad(), {kNan, 5});
  Variable w = leaf({1, 2});
  ebb::where(ebb::tensor({false, true}), bad, w).sum().backward();
  require_values(w.grad(), {1, 0});
}

TEST_CASE("softplus and binary_cross_entropy_with_logits are exact at -1000 and 1000") {
  Variable x = leaf({-1000, 1000});
  require_values(ebb::softplus(x), {0, 1000});
  require_values(derivative([](const Variable& t) { return ebb::softplus(t); }, {-1000, 1000}), {0, 1});
  const Variable target = ebb::tensor({1.0, 0.0}, ebb::kFloat64);
  Variable loss = ebb::binary_cross_entropy_with_logits(x, target);
  require_values(loss, {1000});
  loss.backward();
  require_values(x.grad(), {-0.5, 0.5});
}

TEST_CASE(
    "cross_entropy_loss is NaN if all targets are ignored, and the gradient of std of equal elements is 0") {
  Variable x = ebb::ones({2, 3}, ebb::kFloat64);
  const Variable ignored = ebb::full({2}, -100, ebb::kLong);
  REQUIRE(std::isnan(ebb::cross_entropy_loss(x, ignored).item<double>()));
  require_values(derivative([](const Variable& t) { return t.std(); }, {2, 2, 2}), {0, 0, 0});
}

TEST_CASE("losses of NaN have NaN gradients") {
  const Variable zero = ebb::zeros({2}, ebb::kFloat64);
  const auto huber = [&](const Variable& x) { return ebb::huber_loss(x, zero); };
  const auto smooth = [&](const Variable& x) { return ebb::smooth_l1_loss(x, zero); };
  CHECK(std::isnan(values(derivative(huber, {kNan, 1}))[0]));
  CHECK(std::isnan(values(derivative(smooth, {kNan, 1}))[0]));
  CHECK(std::isnan(values(ebb::softshrink(leaf({kNan, 1})))[0]));
}

TEST_CASE("the gradient of atan2 at the origin is zero") {
  const Variable zero = ebb::zeros({2}, ebb::kFloat64), y = ebb::tensor({0., 1.}, ebb::kFloat64);
  require_values(derivative([&](const Variable& x) { return ebb::atan2(x, zero); }, {0, 2}), {0, 0});
  require_values(derivative([&](const Variable& x) { return ebb::atan2(y, x); }, {0, 2}), {0, -0.2});
}

TEST_CASE("the gradient of logcumsumexp is finite for inputs that contain -inf") {
  const auto f = [](const Variable& x) { return ebb::logcumsumexp(x, 0); };
  require_values(derivative(f, {-kInf, -kInf, 1}), {1, 1, 1});
  require_values(derivative(f, {1, -kInf}), {2, 0});
}

TEST_CASE("equal extremes share the gradient even if a 16-bit dtype cannot represent their count") {
  const std::int64_t n = 70000;
  using F = Variable (*)(const Variable&);
  const std::pair<const char*, F> extremes[] = {
      {"max", [](const Variable& x) { return x.max(); }},
      {"min", [](const Variable& x) { return x.min(); }},
      {"amax", [](const Variable& x) { return x.amax(0); }},
      {"amin", [](const Variable& x) { return x.amin(0); }},
      {"aminmax", [](const Variable& x) { return std::get<0>(x.aminmax(0)) + std::get<1>(x.aminmax(0)); }},
      {"norm", [](const Variable& x) { return ebb::linalg::vector_norm(x, kInf); }},
      {"scatter_reduce", [](const Variable& x) {
         return ebb::scatter_reduce(ebb::zeros({1}, x.options()), 0, ebb::zeros({70000}, ebb::kLong), x,
                                    "amax")
             .sum();
       }}};
  for (const auto& [name, f] : extremes)
    for (const ebb::DType dtype : {ebb::kHalf, ebb::kBFloat16}) {
      INFO(name << " of " << dtype);
      const Variable x = ebb::ones({n}, dtype).requires_grad_();
      const Variable g = grad({f(x) * 1024}, {x})[0];
      const double shares = std::string(name) == "aminmax" ? 2 : 1;
      CHECK(g[0].item<double>() == Approx(shares * 1024 / n).epsilon(0.01));
      CHECK(g.to(ebb::kDouble).sum().item<double>() == Approx(shares * 1024).epsilon(0.01));
    }
}

TEST_CASE("scatter_reduce with amax has NaN gradients for all elements if one of them is NaN") {
  const Variable index = ebb::zeros({2}, ebb::kLong);
  const auto f = [&](const Variable& x) {
    return ebb::scatter_reduce(ebb::zeros({1}, ebb::kFloat64), 0, index, x, "amax");
  };
  require_values(derivative(f, {kNan, 1}), {kNan, kNan});
  require_values(derivative(f, {2, 1}), {1, 0});
}
