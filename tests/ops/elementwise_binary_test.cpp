#include "elementwise_support.h"

namespace {

using namespace elementwise;
using Op = Tensor (*)(const Tensor&, const Tensor&);

struct Case {
  const char* name;
  Op op;
  double (*reference)(double, double);
  bool positive = false;  // the first operand must be
  bool differentiable = true;
};

double python_mod(double a, double b) {
  const double r = std::fmod(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

const Case kCases[] = {
    {"add", [](const Tensor& a, const Tensor& b) { return a + b; }, [](double a, double b) { return a + b; }},
    {"add_alpha", [](const Tensor& a, const Tensor& b) { return ebb::add(a, b, 2.5); },
     [](double a, double b) { return a + 2.5 * b; }},
    {"sub", [](const Tensor& a, const Tensor& b) { return a - b; }, [](double a, double b) { return a - b; }},
    {"sub_alpha", [](const Tensor& a, const Tensor& b) { return a.sub(b, 0.5); },
     [](double a, double b) { return a - 0.5 * b; }},
    {"rsub", [](const Tensor& a, const Tensor& b) { return ebb::rsub(a, b, 3); },
     [](double a, double b) { return b - 3 * a; }},
    {"mul", [](const Tensor& a, const Tensor& b) { return a * b; }, [](double a, double b) { return a * b; }},
    {"div", [](const Tensor& a, const Tensor& b) { return a / b; }, [](double a, double b) { return a / b; }},
    {"div_floor", [](const Tensor& a, const Tensor& b) { return ebb::div(a, b, "floor"); },
     [](double a, double b) { return std::floor(a / b); }},
    {"div_trunc", [](const Tensor& a, const Tensor& b) { return ebb::div(a, b, "trunc"); },
     [](double a, double b) { return std::trunc(a / b); }},
    {"floor_divide", [](const Tensor& a, const Tensor& b) { return ebb::floor_divide(a, b); },
     [](double a, double b) { return std::floor(a / b); }, false, false},
    {"fmod", [](const Tensor& a, const Tensor& b) { return ebb::fmod(a, b); },
     [](double a, double b) { return std::fmod(a, b); }},
    {"remainder", [](const Tensor& a, const Tensor& b) { return a % b; }, python_mod},
    {"pow", [](const Tensor& a, const Tensor& b) { return ebb::pow(a, b); },
     [](double a, double b) { return std::pow(a, b); }, true},
    {"atan2", [](const Tensor& a, const Tensor& b) { return ebb::atan2(a, b); },
     [](double a, double b) { return std::atan2(a, b); }},
    {"hypot", [](const Tensor& a, const Tensor& b) { return ebb::hypot(a, b); },
     [](double a, double b) { return std::hypot(a, b); }},
    {"maximum", [](const Tensor& a, const Tensor& b) { return ebb::maximum(a, b); },
     [](double a, double b) { return std::max(a, b); }},
    {"minimum", [](const Tensor& a, const Tensor& b) { return ebb::minimum(a, b); },
     [](double a, double b) { return std::min(a, b); }},
    {"fmax", [](const Tensor& a, const Tensor& b) { return ebb::fmax(a, b); },
     [](double a, double b) { return std::fmax(a, b); }},
    {"fmin", [](const Tensor& a, const Tensor& b) { return ebb::fmin(a, b); },
     [](double a, double b) { return std::fmin(a, b); }},
    {"logaddexp", [](const Tensor& a, const Tensor& b) { return ebb::logaddexp(a, b); },
     [](double a, double b) { return std::log(std::exp(a) + std::exp(b)); }},
    {"logaddexp2", [](const Tensor& a, const Tensor& b) { return ebb::logaddexp2(a, b); },
     [](double a, double b) { return std::log2(std::exp2(a) + std::exp2(b)); }},
    {"xlogy", [](const Tensor& a, const Tensor& b) { return ebb::xlogy(b, a); },
     [](double a, double b) { return b * std::log(a); }, true},
    {"copysign", [](const Tensor& a, const Tensor& b) { return ebb::copysign(a, b); },
     [](double a, double b) { return std::copysign(a, b); }},
    {"ldexp", [](const Tensor& a, const Tensor& b) { return ebb::ldexp(a, b); },
     [](double a, double b) { return a * std::exp2(b); }},
    {"heaviside", [](const Tensor& a, const Tensor& b) { return ebb::heaviside(a, b); },
     [](double a, double b) { return a > 0   ? 1
                                     : a < 0 ? 0
                                             : b; }, false, false},
};

Tensor first(const Case& c, std::vector<std::int64_t> sizes) {
  return c.positive ? ramp(sizes, 0.3, 3) : ramp(sizes, -3, 3);
}
Tensor second(std::vector<std::int64_t> sizes) { return ramp(sizes, -2.5, 2.5, 1.9); }

}  // namespace

TEST_CASE("functions of two tensors agree with their formulas, in every layout") {
  for (const Case& c : kCases) {
    const Tensor a = first(c, {6, 31}), b = second({6, 31}), out = c.op(a, b);
    const std::vector<double> x = values(a), y = values(b), got = values(out);
    const std::vector<double> single = values(c.op(a.to(ebb::kFloat), b.to(ebb::kFloat)));
    for (std::size_t i = 0; i < x.size(); ++i) {
      INFO(c.name << "(" << x[i] << ", " << y[i] << ")");
      const double want = c.reference(x[i], y[i]);
      CHECK(std::fabs(got[i] - want) <= near(want, 1e-14));
      CHECK(std::fabs(single[i] - want) <= near(want, 3e-6));
    }
    for (const Tensor& u : layouts(a))
      for (const Tensor& v : layouts(b)) CHECK(same_bits(c.op(u, v), out));
    CHECK(same_bits(c.op(a, layouts(b)[1]), out));
  }
}

TEST_CASE("operands broadcast as if they were expanded") {
  for (const Case& c : kCases) {
    INFO(c.name);
    const std::vector<std::vector<std::int64_t>> shapes = {{4, 1, 30}, {5, 1}, {30}, {1}, {}, {4, 5, 30}};
    for (const auto& s : shapes)
      for (const auto& t : shapes) {
        const Tensor a = first(c, s), b = second(t), out = c.op(a, b);
        const Tensor wide = c.op(a.expand(out.sizes()).contiguous(), b.expand(out.sizes()).contiguous());
        CHECK(same_bits(out, wide));
      }
    CHECK(c.op(first(c, {4, 0}), second({4, 1})).sizes() == ebb::IntArrayRef({4, 0}));
    CHECK_THROWS_WITH(c.op(first(c, {2, 3}), second({4})),
                      Catch::Contains("[2, 3]") && Catch::Contains("[4]"));
  }
}

TEST_CASE("functions of two tensors have the derivatives they claim, to second order") {
  for (const Case& c : kCases) {
    if (!c.differentiable) continue;
    INFO(c.name);
    for (const auto& shapes :
         {std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>>{{2, 3}, {2, 3}},
          {{2, 1}, {3}},
          {{}, {2, 2}}}) {
      const Tensor a = leaf(first(c, shapes.first)), b = leaf(second(shapes.second));
      const auto f = [&](const Tensor& x, const Tensor& y) { return c.op(x, y); };
      CHECK(ebb::gradcheck(f, {a, b}));
      CHECK(ebb::gradgradcheck(f, {a, b}));
      CHECK(ebb::gradcheck([&](const Tensor& x) { return c.op(x, b.detach()); }, {a}));
      CHECK(ebb::gradcheck([&](const Tensor& y) { return c.op(a.detach(), y); }, {b}));
    }
  }
}

TEST_CASE("numbers stand on either side") {
  const auto check = [](auto f, auto reference, double low = 0.5, double high = 3) {
    const Tensor x = leaf(ramp({2, 3}, low, high));
    const std::vector<double> in = values(x), out = values(f(x));
    for (std::size_t i = 0; i < in.size(); ++i)
      CHECK(std::fabs(out[i] - reference(in[i])) <= near(out[i], 1e-14));
    CHECK(ebb::gradcheck([&](const Tensor& t) { return f(t); }, {x}));
    CHECK(ebb::gradgradcheck([&](const Tensor& t) { return f(t); }, {x}));
    CHECK(same_bits(f(x.t()).t(), f(x)));
  };
  check([](const Tensor& x) { return x + 2; }, [](double x) { return x + 2; });
  check([](const Tensor& x) { return 2.5 + x; }, [](double x) { return x + 2.5; });
  check([](const Tensor& x) { return ebb::add(x, 2, 3); }, [](double x) { return x + 6; });
  check([](const Tensor& x) { return x - 2; }, [](double x) { return x - 2; });
  check([](const Tensor& x) { return 2 - x; }, [](double x) { return 2 - x; });
  check([](const Tensor& x) { return ebb::rsub(x, 2, 3); }, [](double x) { return 2 - 3 * x; });
  check([](const Tensor& x) { return x * 2.5 * 2; }, [](double x) { return x * 5; });
  check([](const Tensor& x) { return x / 4; }, [](double x) { return x / 4; });
  check([](const Tensor& x) { return 4 / x; }, [](double x) { return 4 / x; });
  check([](const Tensor& x) { return x % 0.7; }, [](double x) { return std::fmod(x, 0.7); }, 0.8, 1.3);
  check([](const Tensor& x) { return 2.9 % x; }, [](double x) { return std::fmod(2.9, x); }, 1.5, 2.5);
  check([](const Tensor& x) { return ebb::fmod(x, 0.7); }, [](double x) { return std::fmod(x, 0.7); }, 0.8,
        1.3);
  check([](const Tensor& x) { return ebb::xlogy(x, 2); }, [](double x) { return x * std::log(2.0); });
  check([](const Tensor& x) { return ebb::xlogy(2, x); }, [](double x) { return 2 * std::log(x); });
  check([](const Tensor& x) { return ebb::copysign(x, -1.0); }, [](double x) { return -std::fabs(x); });
  check([](const Tensor& x) { return ebb::pow(2.0, x); }, [](double x) { return std::pow(2.0, x); });
  check([](const Tensor& x) { return ebb::clamp(x, 1, 2); },
        [](double x) { return std::min(std::max(x, 1.), 2.); });
  check([](const Tensor& x) { return ebb::clamp_min(x, 1); }, [](double x) { return std::max(x, 1.); });
  check([](const Tensor& x) { return ebb::clamp_max(x, 2); }, [](double x) { return std::min(x, 2.); });
  for (double e : {0.0, 1.0, 2.0, 3.0, 0.5, -1.0, -0.5, 2.7, -3.0}) {
    INFO(e);
    const Tensor x = leaf(ramp({2, 3}, 0.5, 3));
    const std::vector<double> in = values(x), out = values(ebb::pow(x, e));
    for (std::size_t i = 0; i < in.size(); ++i)
      CHECK(std::fabs(out[i] - std::pow(in[i], e)) <= near(out[i], 1e-14));
    CHECK(ebb::gradcheck([&](const Tensor& t) { return ebb::pow(t, e); }, {x}));
    CHECK(ebb::gradgradcheck([&](const Tensor& t) { return ebb::pow(t, e); }, {x}));
  }
}

TEST_CASE("functions of three tensors") {
  const Tensor a = leaf(ramp({2, 3}, -2, 2)), b = leaf(ramp({2, 3}, -2, 2, 1.1)),
               c = leaf(ramp({3}, 1, 2, 2.2));
  const auto check = [&](auto f, auto reference) {
    const Tensor out = f(a, b, c);
    const std::vector<double> x = values(a), y = values(b), z = values(c), got = values(out);
    for (std::size_t i = 0; i < x.size(); ++i)
      CHECK(std::fabs(got[i] - reference(x[i], y[i], z[i % 3])) <= near(got[i], 1e-14));
    CHECK(ebb::gradcheck(f, {a, b, c}));
    CHECK(ebb::gradgradcheck(f, {a, b, c}));
    CHECK(same_bits(f(layouts(a)[0], layouts(b)[1], c), out));
  };
  using T = const Tensor&;
  check([](T x, T y, T z) { return ebb::addcmul(x, y, z, 0.5); },
        [](double x, double y, double z) { return x + 0.5 * y * z; });
  check([](T x, T y, T z) { return x.addcdiv(y, z, 2); },
        [](double x, double y, double z) { return x + 2 * y / z; });
  check([](T x, T y, T z) { return ebb::lerp(x, y, z); },
        [](double x, double y, double z) { return x + z * (y - x); });
  check([](T x, T y, T z) { return ebb::lerp(x, y, 0.3) + z * 0; },
        [](double x, double y, double) { return x + 0.3 * (y - x); });
  check([](T x, T y, T z) { return ebb::clamp(x * 2, y - 1, z); },
        [](double x, double y, double z) { return std::min(std::max(2 * x, y - 1), z); });
  check([](T x, T y, T z) { return ebb::clamp_min(x, y) + ebb::clamp_max(x, z); },
        [](double x, double y, double z) { return std::max(x, y) + std::min(x, z); });
  check([](T x, T y, T z) { return ebb::where(x > y, x * y, z); },
        [](double x, double y, double z) { return x > y ? x * y : z; });
}

TEST_CASE("in-place functions of two and three tensors equal the others, and record the same") {
  const Tensor b = leaf(ramp({3}, 1, 2)), weight = ramp({2, 3}, 0.2, 0.8);
  const auto check = [&](auto inplace, auto plain) {
    const Tensor x = leaf(ramp({2, 3}, 1, 3)), y = leaf(x);
    const Tensor out = plain(x * 1);
    const Tensor in = y * 1;
    inplace(in);
    CHECK(same_bits(in, out));
    out.sum().backward();
    const Tensor other = b.grad().defined() ? b.grad().clone() : Tensor();
    b.mutable_grad().reset();
    in.sum().backward();
    CHECK(same_bits(x.grad(), y.grad()));
    if (other.defined()) CHECK(same_bits(b.grad(), other));
    b.mutable_grad().reset();
  };
  using T = const Tensor&;
  check([&](T x) { x.add_(b, 2); }, [&](T x) { return x.add(b, 2); });
  check([&](T x) { x.sub_(b); }, [&](T x) { return x - b; });
  check([&](T x) { x.mul_(b); }, [&](T x) { return x * b; });
  check([&](T x) { x.div_(b); }, [&](T x) { return x / b; });
  check([&](T x) { x.mul_(x); }, [&](T x) { return x * x; });
  check([&](T x) { x.pow_(b); }, [&](T x) { return ebb::pow(x, b); });
  check([&](T x) { x.pow_(2); }, [&](T x) { return ebb::pow(x, 2); });
  check([&](T x) { x.mul_(3); }, [&](T x) { return x * 3; });
  check([&](T x) { x.div_(b, "floor"); }, [&](T x) { return x.div(b, "floor"); });
  check([&](T x) { x.fmod_(b); }, [&](T x) { return x.fmod(b); });
  check([&](T x) { x.remainder_(0.9); }, [&](T x) { return x.remainder(0.9); });
  check([&](T x) { x.clamp_(1.5, 2.5); }, [&](T x) { return x.clamp(1.5, 2.5); });
  check([&](T x) { x.lerp_(x * 2, weight); }, [&](T x) { return x.lerp(x * 2, weight); });
  check([&](T x) { x.addcmul_(x, b, 2); }, [&](T x) { return x.addcmul(x, b, 2); });
  check([&](T x) { x.addcdiv_(x, b, 2); }, [&](T x) { return x.addcdiv(x, b, 2); });
  check([&](T x) { x.atan2_(b); }, [&](T x) { return x.atan2(b); });
  check([&](T x) { x.xlogy_(b); }, [&](T x) { return x.xlogy(b); });
  check([&](T x) { x.copysign_(-1.0); }, [&](T x) { return x.copysign(-1.0); });
  Tensor x = ramp({2, 3}, 1, 3);
  const Tensor y = x.clone();
  x += 1;
  x *= x;
  x -= y;
  x /= 2;
  CHECK(same_bits(x, ((y + 1) * (y + 1) - y) / 2));
  // An operand that overlaps self is read as it was before the op.
  Tensor line = ebb::tensor({1.0, 2.0, 3.0, 4.0}, ebb::kDouble);
  line.as_strided({3}, {1}, 1).add_(line.as_strided({3}, {1}, 0));
  CHECK(values(line) == std::vector<double>{1, 3, 5, 7});
}
