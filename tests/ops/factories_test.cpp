// Factories called with dtype, layout, device and pinning apart, and small forms of reductions.
#include <ebb/ebb.h>
#include <ebb/ops/factories.h>

#include "support/catch.h"

using namespace ebb;

TEST_CASE("factories take dtype, layout, device and pinning apart") {
  const auto same = [](const Tensor& a, const Tensor& b) {
    return a.scalar_type() == b.scalar_type() && a.equal(b);
  };
  CHECK(same(zeros({2, 3}, kLong, kStrided, kCPU, false), zeros({2, 3}, kLong)));
  CHECK(same(ones({2}, nullopt, nullopt, nullopt, nullopt), ones({2})));
  CHECK(same(full({2}, 3, kDouble, kStrided, Device("cpu"), nullopt), full({2}, 3., kDouble)));
  CHECK(same(full({2}, 3, nullopt, nullopt, nullopt, nullopt), full({2}, 3)));
  CHECK(same(arange(4, kFloat, kStrided, kCPU, false), arange(4, kFloat)));
  CHECK(same(arange(1, 4, nullopt, nullopt, nullopt, nullopt), arange(1, 4)));
  CHECK(same(linspace(0, 1, 3, kDouble, kStrided, kCPU, false), linspace(0, 1, 3, kDouble)));
  CHECK(same(eye(2, kInt, kStrided, kCPU, false), eye(2, kInt)));
  CHECK(empty({1, 2, 3, 4}, kFloat, kStrided, kCPU, false, MemoryFormat::ChannelsLast).stride(1) == 1);
  const Tensor x = ones({2, 2}, kDouble);
  CHECK(same(zeros_like(x, nullopt, nullopt, nullopt, nullopt), zeros({2, 2}, kDouble)));
  CHECK(same(full_like(x, 4, kLong, kStrided, kCPU, false), full({2, 2}, 4)));
  CHECK(same(x.new_zeros({3}, kInt, kStrided, kCPU, false), zeros({3}, kInt)));
  CHECK(same(x.new_full({3}, 2, nullopt, nullopt, nullopt, nullopt), full({3}, 2., kDouble)));
  CHECK(same(x.to(kFloat, kStrided, kCPU, false, false, false, nullopt), ones({2, 2})));
  manual_seed(5);
  const Tensor drawn = randn({3}, kDouble);
  manual_seed(5);
  CHECK(same(randn({3}, kDouble, kStrided, kCPU, false), drawn));
}

TEST_CASE("all any and squeeze take lists of dimensions") {
  const Tensor x = tensor({{{1, 1}, {1, 0}}, {{1, 1}, {1, 1}}}, kBool);
  CHECK(all(x, {1, 2}).equal(tensor({false, true})));
  CHECK(x.all({1, 2}, true).sizes() == IntArrayRef({2, 1, 1}));
  CHECK(any(~x, {0, 2}).equal(tensor({false, true})));
  CHECK((~x).any({0, 1}).equal(tensor({false, true})));
  CHECK(x.all(OptionalIntArrayRef(nullopt)).item<bool>() == false);
  CHECK_THROWS_WITH(all(x, {0, 0}), support::Contains("all"));
  CHECK(ones({1, 2, 1}).squeeze({0, 1}).sizes() == IntArrayRef({2, 1}));
  CHECK(ones({1, 2, 1}).squeeze_({0, -1}).sizes() == IntArrayRef({2}));
}

TEST_CASE("the correction of variances is any number") {
  const Tensor x = tensor({1., 2., 4., 8.}, kDouble);  // squares about the mean: 28.75
  CHECK(var(x, {0}, Scalar(1.5)).item<double>() == Approx(28.75 / 2.5).epsilon(1e-15));
  CHECK(x.var({0}, Scalar(1.5)).item<double>() == Approx(28.75 / 2.5).epsilon(1e-15));
  CHECK(x.std({0}, Scalar(-0.5), true).sizes() == IntArrayRef({1}));
  CHECK(x.std({0}, Scalar(-0.5)).item<double>() == Approx(std::sqrt(28.75 / 4.5)).epsilon(1e-15));
  CHECK(std::get<0>(var_mean(x, {0}, Scalar(0.25))).item<double>() == Approx(28.75 / 3.75).epsilon(1e-15));
  CHECK(var(x, {0}, make_optional<std::int64_t>(2)).item<double>() == Approx(28.75 / 2).epsilon(1e-15));
  CHECK(var(x, {0}, nullopt, false).item<double>() == Approx(28.75 / 3).epsilon(1e-15));
  CHECK(var(x, {0}, Scalar(4.5)).item<double>() == INFINITY);
  const Tensor leaf = x.clone().requires_grad_();
  CHECK(gradcheck([](const Tensor& t) { return t.std({0}, Scalar(0.5)); }, {leaf}));
}
