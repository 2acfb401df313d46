#include "elementwise_support.h"

namespace {

using namespace elementwise;
using Op = Tensor (*)(const Tensor&);

struct Case {
  const char* name;
  Op op;
  double (*reference)(double);
  std::vector<double> kinks;
};

double softplus(double x) { return x > 20 ? x : std::log1p(std::exp(x)); }
double phi(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }
double elu(double x, double alpha) { return x > 0 ? x : alpha * std::expm1(x); }
double relu6(double x) { return std::min(std::max(x, 0.0), 6.0); }

const Case kCases[] = {
    {"relu", [](const Tensor& x) { return ebb::relu(x); }, [](double x) { return x > 0 ? x : 0; }, {0}},
    {"relu6", [](const Tensor& x) { return ebb::relu6(x); }, relu6, {0, 6}},
    {"leaky_relu",
     [](const Tensor& x) { return ebb::leaky_relu(x, 0.3); },
     [](double x) { return x > 0 ? x : 0.3 * x; },
     {0}},
    {"elu", [](const Tensor& x) { return ebb::elu(x, 1.7); }, [](double x) { return elu(x, 1.7); }, {0}},
    {"elu_scaled",
     [](const Tensor& x) { return ebb::elu(x, 1.7, 0.5, 2); },
     [](double x) { return x > 0 ? 0.5 * x : 0.85 * std::expm1(2 * x); },
     {0}},
    {"selu",
     [](const Tensor& x) { return ebb::selu(x); },
     [](double x) { return 1.0507009873554805 * elu(x, 1.6732632423543772); },
     {0}},
    {"celu",
     [](const Tensor& x) { return ebb::celu(x, 0.8); },
     [](double x) { return x > 0 ? x : 0.8 * std::expm1(x / 0.8); },
     {0}},
    {"gelu", [](const Tensor& x) { return ebb::gelu(x); }, [](double x) { return x * phi(x); }, {}},
    {"gelu_tanh",
     [](const Tensor& x) { return ebb::gelu(x, "tanh"); },
     [](double x) { return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); },
     {}},
    {"silu",
     [](const Tensor& x) { return ebb::silu(x); },
     [](double x) { return x / (1 + std::exp(-x)); },
     {}},
    {"mish",
     [](const Tensor& x) { return ebb::mish(x); },
     [](double x) { return x * std::tanh(softplus(x)); },
     {}},
    {"softplus", [](const Tensor& x) { return ebb::softplus(x); }, softplus, {}},
    {"softplus_beta",
     [](const Tensor& x) { return ebb::softplus(x, 2, 3); },
     [](double x) { return 2 * x > 3 ? x : std::log1p(std::exp(2 * x)) / 2; },
     {1.5}},
    {"softsign",
     [](const Tensor& x) { return ebb::softsign(x); },
     [](double x) { return x / (1 + std::fabs(x)); },
     {0}},
    {"tanhshrink",
     [](const Tensor& x) { return ebb::tanhshrink(x); },
     [](double x) { return x - std::tanh(x); },
     {}},
    {"log_sigmoid",
     [](const Tensor& x) { return ebb::log_sigmoid(x); },
     [](double x) { return -softplus(-x); },
     {}},
    {"hardtanh",
     [](const Tensor& x) { return ebb::hardtanh(x, -0.5, 2); },
     [](double x) { return std::min(std::max(x, -0.5), 2.0); },
     {-0.5, 2}},
    {"hardsigmoid",
     [](const Tensor& x) { return ebb::hardsigmoid(x); },
     [](double x) { return relu6(x + 3) / 6; },
     {-3, 3}},
    {"hardswish",
     [](const Tensor& x) { return ebb::hardswish(x); },
     [](double x) { return x * relu6(x + 3) / 6; },
     {-3, 3}},
    {"hardshrink",
     [](const Tensor& x) { return ebb::hardshrink(x, 0.7); },
     [](double x) { return std::fabs(x) > 0.7 ? x : 0; },
     {-0.7, 0.7}},
    {"softshrink",
     [](const Tensor& x) { return ebb::softshrink(x, 0.7); },
     [](double x) { return x > 0.7    ? x - 0.7
                           : x < -0.7 ? x + 0.7
                                      : 0; },
     {-0.7, 0.7}},
    {"threshold",
     [](const Tensor& x) { return ebb::threshold(x, 0.4, -2); },
     [](double x) { return x > 0.4 ? x : -2; },
     {0.4}},
    {"prelu",
     [](const Tensor& x) { return ebb::prelu(x, ebb::full({1}, 0.25, ebb::kDouble)); },
     [](double x) { return x > 0 ? x : 0.25 * x; },
     {0}},
};

// Values between -7 and 7 that keep away from the kinks.
Tensor safe(const Case& c, std::vector<std::int64_t> sizes) {
  Tensor x = ramp(sizes, -7, 7);
  for (std::int64_t i = 0; i < x.numel(); ++i)
    for (double kink : c.kinks)
      if (std::fabs(x.data_ptr<double>()[i] - kink) < 0.01) x.data_ptr<double>()[i] += 0.05;
  return x;
}

}  // namespace

TEST_CASE("activations agree with their formulas") {
  for (const Case& c : kCases) {
    const Tensor x = safe(c, {5, 9});
    const std::vector<double> in = values(x), out = values(c.op(x));
    const std::vector<double> single =
        std::string(c.name) == "prelu" ? std::vector<double>{} : values(c.op(x.to(ebb::kFloat)));
    for (std::size_t i = 0; i < in.size(); ++i) {
      INFO(c.name << "(" << in[i] << ")");
      CHECK(std::fabs(out[i] - c.reference(in[i])) <= near(in[i], 1e-14));
      if (!single.empty()) CHECK(std::fabs(single[i] - c.reference(in[i])) <= near(in[i], 2e-6));
    }
    for (const Tensor& view : layouts(x)) CHECK(same_bits(c.op(view), c.op(x)));
  }
}

TEST_CASE("activations have the derivatives they claim, to second order") {
  for (const Case& c : kCases) {
    INFO(c.name);
    const Tensor x = leaf(safe(c, {2, 4}));
    CHECK(ebb::gradcheck([&](const Tensor& t) { return c.op(t); }, {x}));
    CHECK(ebb::gradgradcheck([&](const Tensor& t) { return c.op(t); }, {x}));
  }
}

TEST_CASE("the gradient of an activation is the same whether or not it is recorded") {
  for (const Case& c : kCases) {
    // Far out and on the kinks too, where the composed formula could overflow or choose another side.
    std::vector<double> points = {-1000, -30, -3,  -1, -0.7, -0.5, 0,  0.4, 0.5,
                                  0.7,   1,   1.5, 2,  3,    6,    30, 1000};
    const Tensor x = leaf(ebb::tensor(points, ebb::kDouble)), seed = ebb::full({17}, 1.5, ebb::kDouble);
    const Tensor plain = ebb::autograd::grad({c.op(x)}, {x}, {seed})[0];
    const Tensor recorded = ebb::autograd::grad({c.op(x)}, {x}, {leaf(seed)}, ebb::nullopt, true)[0];
    const std::vector<double> a = values(plain), b = values(recorded);
    for (std::size_t i = 0; i < a.size(); ++i) {
      INFO(c.name << " at " << points[i]);
      CHECK(std::isfinite(a[i]));
      CHECK(std::fabs(a[i] - b[i]) <= near(a[i], 1e-12));
    }
  }
}

TEST_CASE("activations write in place what they return out of place") {
  const auto check = [](Op op, auto inplace) {
    const Tensor x = leaf(ramp({4, 5}, -4, 4)), y = leaf(x);
    op(x * 1).sum().backward();
    Tensor z = y * 1;
    inplace(z);
    CHECK(same_bits(z, op(x)));
    z.sum().backward();
    CHECK(same_bits(x.grad(), y.grad()));
  };
  check([](const Tensor& x) { return ebb::relu(x); }, [](Tensor& x) { ebb::relu_(x); });
  check([](const Tensor& x) { return ebb::relu6(x); }, [](Tensor& x) { ebb::relu6_(x); });
  check([](const Tensor& x) { return ebb::leaky_relu(x, 0.1); }, [](Tensor& x) { ebb::leaky_relu_(x, 0.1); });
  check([](const Tensor& x) { return ebb::elu(x, 2); }, [](Tensor& x) { ebb::elu_(x, 2); });
  check([](const Tensor& x) { return ebb::selu(x); }, [](Tensor& x) { ebb::selu_(x); });
  check([](const Tensor& x) { return ebb::celu(x, 2); }, [](Tensor& x) { ebb::celu_(x, 2); });
  check([](const Tensor& x) { return ebb::gelu(x); }, [](Tensor& x) { ebb::gelu_(x); });
  check([](const Tensor& x) { return ebb::silu(x); }, [](Tensor& x) { ebb::silu_(x); });
  check([](const Tensor& x) { return ebb::mish(x); }, [](Tensor& x) { ebb::mish_(x); });
  check([](const Tensor& x) { return ebb::hardtanh(x); }, [](Tensor& x) { ebb::hardtanh_(x); });
  check([](const Tensor& x) { return ebb::hardsigmoid(x); }, [](Tensor& x) { ebb::hardsigmoid_(x); });
  check([](const Tensor& x) { return ebb::hardswish(x); }, [](Tensor& x) { ebb::hardswish_(x); });
  check([](const Tensor& x) { return ebb::threshold(x, 0.2, 9); },
        [](Tensor& x) { ebb::threshold_(x, 0.2, 9); });
}

TEST_CASE("prelu has a weight for all or one for each channel") {
  const Tensor x = leaf(ramp({2, 3, 2}, -2, 2)), one = leaf(ramp({1}, 0.2, 0.3)),
               each = leaf(ramp({3}, 0.1, 0.9));
  for (const Tensor& w : {one, each}) {
    CHECK(ebb::gradcheck([](const Tensor& a, const Tensor& b) { return ebb::prelu(a, b); }, {x, w}));
    CHECK(ebb::gradgradcheck([](const Tensor& a, const Tensor& b) { return ebb::prelu(a, b); }, {x, w}));
  }
  CHECK_THROWS_WITH(ebb::prelu(x, ebb::ones({2}, ebb::kDouble)), Catch::Contains("parameter numbers = 2"));
}

TEST_CASE("activations at their corners and far out") {
  const auto slope = [](Op op, double at) {
    const Tensor x = leaf(ebb::full({1}, at, ebb::kDouble));
    op(x).sum().backward();
    return x.grad().item<double>();
  };
  CHECK(slope([](const Tensor& x) { return ebb::relu(x); }, 0) == 0);
  CHECK(slope([](const Tensor& x) { return ebb::hardtanh(x); }, 1) == 0);
  CHECK(slope([](const Tensor& x) { return ebb::hardtanh(x); }, -1) == 0);
  for (const double x : {-2.0, -1.0, 0.0, 1.0, 2.0}) {  // exchanged, the second bound wins
    CHECK(ebb::hardtanh(ebb::full({}, x), 1, -1).item<double>() == -1);
    CHECK(ebb::hardtanh(ebb::full({}, x, ebb::kLong), 1, -1).item<std::int64_t>() == -1);
    CHECK(slope([](const Tensor& t) { return ebb::hardtanh(t, 1, -1); }, x) == 0);
  }
  CHECK(slope([](const Tensor& x) { return ebb::relu6(x); }, 6) == 0);
  CHECK(slope([](const Tensor& x) { return ebb::clamp(x, -1, 1); }, 1) == 1);
  CHECK(slope([](const Tensor& x) { return ebb::leaky_relu(x, 0.3); }, 0) == 0.3);
  for (double far : {-1000.0, 1000.0}) {
    CHECK(slope([](const Tensor& x) { return ebb::softplus(x); }, far) == (far > 0 ? 1 : 0));
    CHECK(slope([](const Tensor& x) { return ebb::log_sigmoid(x); }, far) == (far > 0 ? 0 : 1));
    CHECK(std::isfinite(ebb::log_sigmoid(ebb::full({}, far)).item<double>()));
  }
  CHECK(std::isnan(ebb::relu(ebb::full({}, NAN)).item<double>()));
  CHECK_THROWS_AS(ebb::gelu(ebb::ones({2}), "fast"), ebb::Error);
  CHECK_THROWS_AS(ebb::softshrink(ebb::ones({2}), -1), ebb::Error);
  CHECK_THROWS_AS(ebb::celu(ebb::ones({2}), 0), ebb::Error);
  CHECK_THROWS_AS(ebb::silu(ebb::tensor({1, 2})), ebb::Error);
  CHECK_THROWS_AS(ebb::relu(ebb::tensor({true})), ebb::Error);
}
