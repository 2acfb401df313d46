// Dtypes, comparisons, integers, corners, names and errors of the elementwise ops.
#include "elementwise_support.h"

using namespace elementwise;
constexpr double kInf = INFINITY, kNan = NAN;
using ebb::kBool, ebb::kByte, ebb::kChar, ebb::kDouble, ebb::kFloat, ebb::kHalf, ebb::kInt, ebb::kLong;

TEST_CASE("dtypes promote by torch's table") {
  const auto vec = [](ebb::DType d) { return ebb::ones({2}, d); };
  const auto zero = [](ebb::DType d) { return ebb::ones({}, d); };
  struct Row {
    ebb::DType a, b, both, a_zero_dim, b_zero_dim;  // two vectors; then a or b being 0-d
  };
  for (const Row& r :
       {Row{kFloat, kDouble, kDouble, kDouble, kFloat}, Row{kInt, kLong, kLong, kLong, kInt},
        Row{kInt, kFloat, kFloat, kFloat, kFloat}, Row{kByte, kChar, ebb::kShort, kChar, kByte},
        Row{kBool, kLong, kLong, kLong, kLong}, Row{kHalf, ebb::kBFloat16, kFloat, ebb::kBFloat16, kHalf},
        Row{kBool, kBool, kBool, kBool, kBool}, Row{kLong, kHalf, kHalf, kHalf, kHalf}}) {
    INFO(ebb::to_string(r.a) << " and " << ebb::to_string(r.b));
    CHECK(ebb::result_type(vec(r.a), vec(r.b)) == r.both);
    CHECK((vec(r.a) * vec(r.b)).dtype() == r.both);
    CHECK((zero(r.a) * vec(r.b)).dtype() == r.a_zero_dim);
    CHECK((vec(r.a) * zero(r.b)).dtype() == r.b_zero_dim);
    CHECK((zero(r.a) * zero(r.b)).dtype() == r.both);
  }
  CHECK((vec(kInt) + 1).dtype() == kInt);
  CHECK((vec(kInt) + 1.5).dtype() == kFloat);
  CHECK((vec(kBool) + 1).dtype() == kLong);
  CHECK((vec(kHalf) * 2.5).dtype() == kHalf);
  CHECK((vec(kInt) / 2).dtype() == kFloat);
  CHECK((vec(kInt) / vec(kInt)).dtype() == kFloat);
  CHECK((2.5 * zero(kLong)).dtype() == kFloat);
  CHECK(ebb::where(vec(kBool), vec(kInt), 2.5).dtype() == kFloat);
  CHECK(ebb::result_type(vec(kInt), 2.5) == kFloat);
  CHECK(ebb::can_cast(kInt, kFloat));
  CHECK_FALSE(ebb::can_cast(kFloat, kInt));
  CHECK_FALSE(ebb::can_cast(kInt, kBool));
  // Gradients come back in each operand's own dtype.
  const Tensor f = ebb::ones({2}, kFloat).requires_grad_(), d = ebb::ones({2}, kDouble).requires_grad_();
  (f * d).sum().backward();
  CHECK(f.grad().dtype() == kFloat);
  CHECK(d.grad().dtype() == kDouble);
}

TEST_CASE("comparisons give Bool, NaN differs from everything") {
  const Tensor a = ebb::tensor({1.0, 2.0, 3.0, kNan}, kDouble),
               b = ebb::tensor({1.0, 3.0, 2.0, kNan}, kDouble);
  const auto bits = [](const Tensor& x) {
    CHECK(x.dtype() == kBool);
    return values(x);
  };
  using V = std::vector<double>;
  CHECK(bits(a == b) == V{1, 0, 0, 0});
  CHECK(bits(a != b) == V{0, 1, 1, 1});
  CHECK(bits(a < b) == V{0, 1, 0, 0});
  CHECK(bits(a <= b) == V{1, 1, 0, 0});
  CHECK(bits(a > b) == V{0, 0, 1, 0});
  CHECK(bits(a >= b) == V{1, 0, 1, 0});
  CHECK(bits(2 < a) == V{0, 0, 1, 0});
  CHECK(bits(a.eq(2)) == V{0, 1, 0, 0});
  CHECK(bits((a > 1) & (a < 3)) == V{0, 1, 0, 0});
  CHECK(bits((a > 2) | (a < 2)) == V{1, 0, 1, 0});
  CHECK(bits(~(a > 2)) == V{1, 1, 0, 1});
  CHECK(bits((a > 1) ^ (b > 2)) == V{0, 0, 1, 0});
  CHECK(bits(ebb::isnan(a)) == V{0, 0, 0, 1});
  CHECK(bits(ebb::logical_and(a, b - 1)) == V{0, 1, 1, 1});
  CHECK(bits(ebb::isfinite(ebb::tensor({1.0, kInf, kNan}, kDouble))) == V{1, 0, 0});
  CHECK(bits(ebb::signbit(ebb::tensor({-0.0, 0.0, -2.0}))) == V{1, 0, 1});
  CHECK(ebb::equal(b, b) == false);
  CHECK(ebb::allclose(a, a, 1e-5, 1e-8, true));
  CHECK_FALSE(ebb::allclose(a, a));
  CHECK(ebb::equal(ebb::tensor({1, 2}), ebb::tensor({1, 2})));
  CHECK_FALSE(ebb::equal(ebb::ones({2}), ebb::ones({2, 1})));
  CHECK(ebb::allclose(ebb::ones({2}), ebb::ones({2}) + 1e-6));
  CHECK_FALSE(ebb::allclose(ebb::ones({2}), ebb::ones({2}) + 1e-3));
  CHECK_FALSE((leaf(a) > 0).requires_grad());
  Tensor i = ebb::tensor({1, 5, 3});
  i.eq_(5);
  CHECK(values(i) == V{0, 1, 0});
  CHECK(i.dtype() == kLong);
}

TEST_CASE("integers wrap, divide and shift as on the machine, and refuse to divide by zero") {
  using V = std::vector<double>;
  const Tensor a = ebb::tensor({7, -7, 7, -7, 0}), b = ebb::tensor({2, 2, -2, -2, 5});
  CHECK(values(ebb::div(a, b, "floor")) == V{3, -4, -4, 3, 0});
  CHECK(values(ebb::div(a, b, "trunc")) == V{3, -3, -3, 3, 0});
  CHECK(values(ebb::fmod(a, b)) == V{1, -1, 1, -1, 0});
  CHECK(values(a % b) == V{1, 1, -1, -1, 0});
  CHECK(values(a / b) == V{3.5, -3.5, -3.5, 3.5, 0});
  CHECK(values(ebb::add(a, b, 3)) == V{13, -1, 1, -13, 15});
  CHECK(values(ebb::full({1}, 200, kByte) + ebb::full({1}, 100, kByte)) == V{44});
  CHECK(values(ebb::full({1}, 100, kChar) * 2) == V{-56});
  CHECK(values(ebb::pow(ebb::tensor({2, -3, 4}), 3)) == V{8, -27, 64});
  CHECK(values(ebb::pow(ebb::tensor({2, -3, 4}), ebb::tensor({0, 1, 5}))) == V{1, -3, 1024});
  CHECK(values(ebb::tensor({1, 6}) << 3) == V{8, 48});
  CHECK(values(ebb::tensor({-9, 6}) >> 1) == V{-5, 3});
  CHECK(values(ebb::tensor({12}) & 10) == V{8});
  CHECK(values(ebb::tensor({12}) | 10) == V{14});
  CHECK(values(ebb::tensor({12}) ^ 10) == V{6});
  CHECK(values(~ebb::tensor({12})) == V{-13});
  CHECK(values(ebb::tensor({true, false}) + ebb::tensor({true, true})) == V{1, 1});
  const std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
  CHECK(ebb::div(ebb::full({1}, lowest, kLong), ebb::full({1}, -1, kLong), "trunc").item<std::int64_t>() ==
        lowest);
  CHECK((ebb::full({1}, lowest, kLong) % ebb::full({1}, -1, kLong)).item<std::int64_t>() == 0);
  for (const char* mode : {"trunc", "floor"})
    CHECK_THROWS_WITH(ebb::div(a, ebb::tensor({0}), mode), Catch::Contains("ZeroDivisionError"));
  CHECK_THROWS_AS(a % 0, ebb::Error);
  CHECK_THROWS_AS(ebb::pow(a, -1), ebb::Error);
  CHECK_THROWS_AS(ebb::add(a, b, 0.5), ebb::Error);
  CHECK_THROWS_AS(ebb::tensor({true}) - ebb::tensor({true}), ebb::Error);
  CHECK_THROWS_AS(ebb::ones({2}) & ebb::ones({2}), ebb::Error);
  CHECK_THROWS_AS(ebb::hypot(a, b), ebb::Error);
}

TEST_CASE("gradients at corners are torch's") {
  const auto slope = [](auto f, double at) {
    const Tensor x = leaf(ebb::full({1}, at, kDouble));
    f(x).sum().backward();
    return x.grad().template item<double>();
  };
  using T = const Tensor&;
  CHECK(std::isinf(slope([](T x) { return ebb::sqrt(x); }, 0)));
  CHECK(std::isinf(slope([](T x) { return ebb::pow(x, 0.5); }, 0)));
  CHECK(slope([](T x) { return ebb::abs(x); }, 0) == 0);
  CHECK(slope([](T x) { return ebb::pow(x, 0); }, 0) == 0);
  CHECK(slope([](T x) { return ebb::pow(x, ebb::zeros({1}, kDouble)); }, 0) == 0);
  CHECK(slope([](T x) { return ebb::pow(0.0, x); }, 0) == 0);
  CHECK(slope([](T x) { return ebb::pow(ebb::zeros({1}, kDouble), x); }, 2) == 0);
  CHECK(slope([](T x) { return ebb::clamp(x, 1, 2); }, 1) == 1);
  CHECK(slope([](T x) { return ebb::clamp(x, 1, 2); }, 2) == 1);
  CHECK(slope([](T x) { return ebb::maximum(x, ebb::ones({1}, kDouble)); }, 1) == 0.5);
  CHECK(slope([](T x) { return ebb::minimum(x, ebb::ones({1}, kDouble)); }, 1) == 0.5);
  CHECK(slope([](T x) { return ebb::fmax(x, ebb::ones({1}, kDouble)); }, 1) == 1);
  CHECK(slope([](T x) { return ebb::xlogy(x, 0.0); }, 0) == 0);
  // The branch not taken cannot spoil the gradient.
  CHECK(slope([](T x) { return ebb::where(x > 0, x, ebb::full({1}, NAN, kDouble)); }, 1) == 1);
  CHECK(slope([](T x) { return ebb::where(x > 0, ebb::sqrt(ebb::clamp_min(x, 0)) * 0, x); }, -1) == 1);
  CHECK(std::isnan(ebb::maximum(ebb::full({}, NAN), ebb::ones({})).item<double>()));
  CHECK(ebb::fmax(ebb::full({}, NAN), ebb::ones({})).item<double>() == 1);
  CHECK(ebb::logaddexp(ebb::full({}, -INFINITY), ebb::full({}, -INFINITY)).item<double>() == -INFINITY);
  CHECK(ebb::logaddexp(ebb::full({}, 1000.0), ebb::full({}, 999.0)).item<double>() ==
        Approx(1000.3132616875));
}

TEST_CASE("closeness is measured in the tensors' own dtype") {
  for (const ebb::DType dtype : {kDouble, kFloat, kHalf, ebb::kBFloat16})
    for (const double tolerance : {0.1, 0.3, 1.7, 1e-3}) {
      INFO(ebb::to_string(dtype) << " " << tolerance);
      const Tensor x = ebb::full({1}, tolerance, dtype), zero = ebb::zeros({1}, dtype);
      CHECK(ebb::allclose(x, zero, 0, tolerance));
      CHECK_FALSE(ebb::allclose(x, zero, 0, tolerance * 0.98));
      CHECK(ebb::allclose(x + 1, ebb::ones({1}, dtype), 0, (x + 1 - 1).item<double>()));
      CHECK(ebb::allclose(zero, x, 1, 0));
      CHECK(ebb::allclose(zero, x * 4, 0.5, (x * 2).item<double>()));
    }
  // Steps of the sum round too: of eight bits, 256 + 1.5 is 258 and 256 + 0.75 is 256.
  const Tensor big = ebb::full({1}, 256, ebb::kBFloat16), below = ebb::full({1}, -2, ebb::kBFloat16);
  CHECK(ebb::allclose(below, big, 1, 1.5));
  CHECK_FALSE(ebb::allclose(below, big, 1, 0.75));
  CHECK(ebb::allclose(ebb::tensor({7, 8}), ebb::tensor({7, 9}), 0, 1));
  CHECK_FALSE(ebb::allclose(ebb::tensor({1000000001}), ebb::tensor({1000000000}), 0, 0.5));
}

TEST_CASE("nodes carry torch's names") {
  const Tensor x = leaf(ramp({2}, 0.2, 0.8)), y = leaf(ramp({2}, 0.3, 0.7));
  const auto name = [](const Tensor& t) { return t.grad_fn()->name(); };
  CHECK(name(x + y) == "AddBackward0");
  CHECK(name(1 + x) == "AddBackward1");
  CHECK(name(x - 1) == "SubBackward1");
  CHECK(name(1 - x) == "SubBackward0");
  CHECK((1 - x).grad_fn()->num_outputs() == 2);
  CHECK(name(x * 2) == "MulBackward1");
  CHECK(name(2 / x) == "DivBackward0");
  CHECK(name(ebb::div(x, y, "floor")) == "DivBackward2");
  CHECK(name(ebb::pow(x, 2)) == "PowBackward0");
  CHECK(name(ebb::pow(x, y)) == "PowBackward1");
  CHECK(name(ebb::pow(2, x)) == "PowBackward2");
  CHECK(name(x % y) == "RemainderBackward1");
  CHECK(name(ebb::round(x)) == "RoundBackward0");
  CHECK(name(ebb::sgn(x)) == "SgnBackward0");
  CHECK(name(ebb::clamp(x, 0, 1)) == "ClampBackward1");
  CHECK(name(ebb::clamp_min(x, y)) == "ClampMinBackward1");
  CHECK(name(ebb::where(x > y, x, y)) == "WhereBackward0");
  CHECK(name(ebb::relu6(x)) == "HardtanhBackward0");
  CHECK(name((x * 1).eq_(1)) == "EqBackward0");
  CHECK(name(ebb::log1p(x)) == "Log1PBackward0");
  CHECK_THROWS_WITH(ebb::heaviside(x, y).sum().backward(), Catch::Contains("heaviside"));
}

TEST_CASE("bad calls are refused with reasons") {
  Tensor i = ebb::tensor({7, 8}), x = ebb::ones({2});
  CHECK_THROWS_WITH(i.div_(2), Catch::Contains("can't be cast") && Catch::Contains("Long"));
  CHECK_THROWS_AS(i.add_(ebb::ones({2})), ebb::Error);
  CHECK_THROWS_WITH(x.add_(ebb::ones({3, 2})), Catch::Contains("[2]") && Catch::Contains("[3, 2]"));
  CHECK_THROWS_WITH(ebb::div(x, 2, "nearest"), Catch::Contains("nearest"));
  CHECK_THROWS_AS(ebb::clamp(x), ebb::Error);
  CHECK_THROWS_AS(ebb::where(x, x, x), ebb::Error);
  CHECK_THROWS_AS(ebb::lerp(x, x.to(kDouble), 0.5), ebb::Error);
  CHECK_THROWS_AS(ebb::isclose(x, x.to(kDouble)), ebb::Error);
  CHECK_THROWS_AS(ebb::addcdiv(i, i, i), ebb::Error);
  CHECK_THROWS_AS(x + Tensor(), ebb::Error);
  CHECK_THROWS_AS(Tensor() + 1, ebb::Error);
  CHECK_THROWS_WITH(leaf(x).add_(1), Catch::Contains("leaf"));
  Tensor wide = ebb::ones({1}).expand({4});
  CHECK_THROWS_AS(wide.add_(1), ebb::Error);
}

TEST_CASE("large arrays: the same bits for one and two threads") {
  const Tensor x = ramp({301, 1001}, -3, 3).to(kFloat), row = ramp({1001}, -1, 1).to(kFloat);
  const auto run = [&](int threads) {
    const int before = ebb::get_num_threads();
    ebb::set_num_threads(threads);
    std::vector<Tensor> out = {ebb::exp(x),  x * row,    x.t() + 1, ebb::tanh(x.t()), ebb::where(x > 0, x, 0),
                               ebb::gelu(x), ebb::sin(x)};
    ebb::set_num_threads(before);
    return out;
  };
  const std::vector<Tensor> one = run(1), two = run(3);
  for (std::size_t i = 0; i < one.size(); ++i) CHECK(same_bits(one[i], two[i]));
}
