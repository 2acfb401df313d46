// Elementwise maths: value, first and second derivative; then the edges.
#include "fidelity.h"

namespace unary_math {

struct Case {
  const char* name;
  Tensor (*call)(const Tensor&);
  double low, high;
};

void run() {
  const Case cases[] = {
      {"abs", [](const Tensor& x) { return torch::abs(x); }, -2, 2},
      {"neg", [](const Tensor& x) { return torch::neg(x); }, -2, 2},
      {"sign", [](const Tensor& x) { return torch::sign(x); }, -2, 2},
      {"exp", [](const Tensor& x) { return torch::exp(x); }, -2, 2},
      {"exp2", [](const Tensor& x) { return torch::exp2(x); }, -2, 2},
      {"expm1", [](const Tensor& x) { return torch::expm1(x); }, -2, 2},
      {"log", [](const Tensor& x) { return torch::log(x); }, 0.1, 3},
      {"log2", [](const Tensor& x) { return torch::log2(x); }, 0.1, 3},
      {"log10", [](const Tensor& x) { return torch::log10(x); }, 0.1, 3},
      {"log1p", [](const Tensor& x) { return torch::log1p(x); }, -0.9, 3},
      {"sqrt", [](const Tensor& x) { return torch::sqrt(x); }, 0.1, 3},
      {"rsqrt", [](const Tensor& x) { return torch::rsqrt(x); }, 0.1, 3},
      {"square", [](const Tensor& x) { return torch::square(x); }, -2, 2},
      {"reciprocal", [](const Tensor& x) { return torch::reciprocal(x); }, 0.3, 3},
      {"sin", [](const Tensor& x) { return torch::sin(x); }, -3, 3},
      {"cos", [](const Tensor& x) { return torch::cos(x); }, -3, 3},
      {"tan", [](const Tensor& x) { return torch::tan(x); }, -1.2, 1.2},
      {"asin", [](const Tensor& x) { return torch::asin(x); }, -0.95, 0.95},
      {"acos", [](const Tensor& x) { return torch::acos(x); }, -0.95, 0.95},
      {"atan", [](const Tensor& x) { return torch::atan(x); }, -3, 3},
      {"sinh", [](const Tensor& x) { return torch::sinh(x); }, -2, 2},
      {"cosh", [](const Tensor& x) { return torch::cosh(x); }, -2, 2},
      {"tanh", [](const Tensor& x) { return torch::tanh(x); }, -2, 2},
      {"asinh", [](const Tensor& x) { return torch::asinh(x); }, -2, 2},
      {"acosh", [](const Tensor& x) { return torch::acosh(x); }, 1.1, 3},
      {"atanh", [](const Tensor& x) { return torch::atanh(x); }, -0.9, 0.9},
      {"sigmoid", [](const Tensor& x) { return torch::sigmoid(x); }, -4, 4},
      {"logit", [](const Tensor& x) { return torch::logit(x); }, 0.05, 0.95},
      {"logit_eps", [](const Tensor& x) { return torch::logit(x, 0.2); }, 0.05, 0.95},
      {"erf", [](const Tensor& x) { return torch::erf(x); }, -2, 2},
      {"erfc", [](const Tensor& x) { return torch::erfc(x); }, -2, 2},
      {"erfinv", [](const Tensor& x) { return torch::erfinv(x); }, -0.9, 0.9},
      {"lgamma", [](const Tensor& x) { return torch::lgamma(x); }, 0.2, 6},
      {"lgamma_negative", [](const Tensor& x) { return torch::lgamma(x); }, -2.9, -2.1},
      {"digamma", [](const Tensor& x) { return torch::digamma(x); }, 0.2, 6},
      {"digamma_negative", [](const Tensor& x) { return torch::digamma(x); }, -2.9, -2.1},
      {"floor", [](const Tensor& x) { return torch::floor(x); }, -3, 3},
      {"ceil", [](const Tensor& x) { return torch::ceil(x); }, -3, 3},
      {"round", [](const Tensor& x) { return torch::round(x); }, -3, 3},
      {"trunc", [](const Tensor& x) { return torch::trunc(x); }, -3, 3},
      {"frac", [](const Tensor& x) { return torch::frac(x); }, -3, 3},
      {"nan_to_num", [](const Tensor& x) { return torch::nan_to_num(x / (x > 0)); }, -1, 1},
  };
  for (const Case& c : cases) grad1(c.name, c.call, ramp({2, 3}, c.low, c.high));

  // Single precision and integers: the result dtype and its accuracy.
  for (const Case& c : cases) {
    section(c.name, [&] {
      report(std::string("f32.") + c.name, c.call(ramp({4}, c.low, c.high).to(torch::kFloat32)));
    });
    section(std::string("i64.") + c.name, [&] {
      report(std::string("i64.") + c.name, c.call(torch::tensor({1, 2, 3})));
    });
  }

  const Tensor edge =
      torch::tensor({0.0, -0.0, 1.0, -1.0, kInf, -kInf, kNan, 1e-300, 1e300}, torch::kFloat64);
  for (const Case& c : cases)
    if (std::string(c.name) != "nan_to_num") grad1(std::string("edge.") + c.name, c.call, edge, 1);

  section("classify", [&] {
    report("isnan", torch::isnan(edge));
    report("isinf", torch::isinf(edge));
    report("isfinite", torch::isfinite(edge));
    report("isfinite.int", torch::isfinite(torch::tensor({1, 2})));
    report("nan_to_num.given", torch::nan_to_num(edge, 7.0, 8.0, 9.0));
    report("nan_to_num.some", edge.nan_to_num(0.5));
    report("signbit", edge.signbit());
    report("round.half", torch::round(torch::tensor({0.5, 1.5, 2.5, -0.5, -1.5}, torch::kFloat64)));
    report("round.decimals", torch::round(torch::tensor({1.2345, -6.789}, torch::kFloat64), 2));
  });

  section("methods", [&] {
    const Tensor x = ramp({3}, 0.2, 0.8);
    report("method.chain", x.exp().log().sqrt().sin().cos().tanh().sigmoid().neg().abs());
    report("method.more", x.erf().erfinv().logit().atan().asinh().sinh().square().rsqrt().reciprocal());
    report("operator.minus", -x);
    Tensor y = x.clone();
    y.exp_().log_().sqrt_().sin_().cos_().tanh_().sigmoid_().neg_().abs_();
    report("inplace.chain", y);
    y.mul_(3.7).floor_().add_(0.4).ceil_().sub_(1.5).round_().trunc_().frac_();
    report("inplace.round", y);
    Tensor z = x.clone().requires_grad_();
    (z * 2).exp_().sum().backward();
    report("inplace.grad", z.grad());
  });

  section("rejected", [&] {
    Tensor i = torch::tensor({1, 2});
    report_error("int.exp_", [&] { i.exp_(); });
    report_error("bool.neg", [&] { torch::neg(torch::tensor({true, false})); });
    report("int.abs", torch::abs(torch::tensor({-1, 2})));
    report("int.neg", -torch::tensor({-1, 2}));
    report("int.square", torch::square(torch::tensor({-3, 2})));
    report("int.sign", torch::sign(torch::tensor({-3, 0, 2})));
    report("bool.exp", torch::exp(torch::tensor({true, false})));
  });
}

const Program program("unary_math", run);

}  // namespace unary_math
