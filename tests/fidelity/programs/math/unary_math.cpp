// Unary functions: elementwise, activations, softmax and scans.
#include "fidelity.h"

#include <set>
#include <string>

// Elementwise functions: value, first and second derivative, and edge cases.
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
    section(std::string("i64.") + c.name,
            [&] { report(std::string("i64.") + c.name, c.call(torch::tensor({1, 2, 3}))); });
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

// Activation functions: functional form, gradients to second order, and points where pieces of the definition
// meet.
namespace activations {

namespace F = torch::nn::functional;

struct Case {
  const char* name;
  Tensor (*call)(const Tensor&);
  int order;
};

void run() {
  const Case cases[] = {
      {"relu", [](const Tensor& x) { return torch::relu(x); }, 2},
      {"relu6", [](const Tensor& x) { return F::relu6(x); }, 2},
      {"leaky_relu", [](const Tensor& x) { return torch::leaky_relu(x); }, 2},
      {"leaky_relu_slope", [](const Tensor& x) { return torch::leaky_relu(x, 0.3); }, 2},
      {"prelu", [](const Tensor& x) { return torch::prelu(x, torch::full({1}, 0.25, x.options())); }, 2},
      {"elu", [](const Tensor& x) { return torch::elu(x); }, 2},
      {"elu_alpha", [](const Tensor& x) { return torch::elu(x, 1.7); }, 2},
      {"selu", [](const Tensor& x) { return torch::selu(x); }, 2},
      {"celu", [](const Tensor& x) { return torch::celu(x, 0.8); }, 2},
      {"gelu", [](const Tensor& x) { return torch::gelu(x); }, 2},
      {"gelu_tanh", [](const Tensor& x) { return torch::gelu(x, "tanh"); }, 2},
      {"silu", [](const Tensor& x) { return torch::silu(x); }, 2},
      {"mish", [](const Tensor& x) { return torch::mish(x); }, 2},
      {"softplus", [](const Tensor& x) { return torch::softplus(x); }, 2},
      {"softplus_beta", [](const Tensor& x) { return torch::softplus(x, 2.0, 3.0); }, 2},
      {"softsign", [](const Tensor& x) { return F::softsign(x); }, 2},
      {"tanhshrink", [](const Tensor& x) { return F::tanhshrink(x); }, 2},
      {"hardtanh", [](const Tensor& x) { return torch::hardtanh(x); }, 2},
      {"hardtanh_range", [](const Tensor& x) { return torch::hardtanh(x, -0.5, 2); }, 2},
      {"hardsigmoid", [](const Tensor& x) { return torch::hardsigmoid(x); }, 1},
      {"hardswish", [](const Tensor& x) { return torch::hardswish(x); }, 2},
      {"hardshrink", [](const Tensor& x) { return torch::hardshrink(x); }, 2},
      {"softshrink", [](const Tensor& x) { return torch::softshrink(x, 0.7); }, 2},
      {"log_sigmoid", [](const Tensor& x) { return torch::log_sigmoid(x); }, 2},
      {"threshold", [](const Tensor& x) { return torch::threshold(x, 0.5, -2.0); }, 2},
      {"glu", [](const Tensor& x) { return torch::glu(x, 0); }, 2},
      {"sigmoid", [](const Tensor& x) { return torch::sigmoid(x); }, 2},
      {"tanh", [](const Tensor& x) { return torch::tanh(x); }, 2},
  };
  for (const Case& c : cases) {
    grad1(c.name, c.call, ramp({2, 4}, -5, 5), c.order);
    // Pieces of the definitions meet at 0, +-1, +-3, 6, +-0.5 and +-0.7.
    const Tensor joins =
        torch::tensor({0.0, 1.0, -1.0, 3.0, -3.0, 6.0, 0.5, -0.5, 0.7, -0.7}, torch::kFloat64);
    // The derivative of hardswish at -3 is 0 in PyTorch 2.15 and -1/2 in libtorch 1.13.
    if (std::string(c.name) != "hardswish") grad1(std::string("joins.") + c.name, c.call, joins, c.order);
    const Tensor far = torch::tensor({1000.0, -1000.0, 25.0, -25.0}, torch::kFloat64);
    grad1(std::string("far.") + c.name, c.call, far, 1);
    section(c.name,
            [&] { report(std::string("f32.") + c.name, c.call(ramp({4}, -3, 3, 0.9).to(torch::kFloat32))); });
  }

  const Tensor odd = torch::tensor({kNan, kInf, -kInf, 0.0}, torch::kFloat64);
  // softshrink keeps NaN in PyTorch 2.15 but not in libtorch 1.13. At infinity the other functions give NaN
  // in libtorch and their limits in ebb.
  const std::set<std::string> differ = {"softshrink", "gelu",     "gelu_tanh", "silu",
                                        "mish",       "softsign", "hardswish"};
  for (const Case& c : cases)
    if (!differ.count(c.name)) grad1(std::string("odd.") + c.name, c.call, odd, 1);

  // One weight per channel, which is dimension 1 of the input.
  grads("prelu_channels", [](const Tensors& x) { return torch::prelu(x[0], x[1]); },
        {ramp({2, 3, 2}, -2, 2), ramp({3}, 0.1, 0.9)});
  grad1("glu_last", [](const Tensor& x) { return torch::glu(x); }, ramp({2, 4}, -2, 2));

  section("inplace", [] {
    Tensor x = ramp({6}, -2, 2).requires_grad_();
    Tensor y = x * 1.5;
    y.relu_();
    y.sum().backward();
    report("relu_", x.grad());
    Tensor z = ramp({6}, -2, 2);
    torch::leaky_relu_(z, 0.1);
    report("leaky_relu_", z);
    Tensor e = ramp({6}, -2, 2);
    torch::elu_(e);
    report("elu_", e);
    Tensor t = ramp({6}, -2, 2);
    torch::threshold_(t, 0.2, 9.0);
    report("threshold_", t);
    Tensor h = ramp({6}, -2, 2);
    torch::hardtanh_(h);
    report("hardtanh_", h);
  });

  section("methods", [] {
    const Tensor x = ramp({4}, -2, 2);
    report("method.relu", x.relu());
    report("method.prelu", x.prelu(torch::full({1}, 0.1, torch::kFloat64)));
    report("method.hardshrink", x.hardshrink(0.4));
    report("int.relu", torch::relu(torch::tensor({-2, 3})));
    report_error("glu.odd", [] { torch::glu(ramp({3})); });
    report_error("prelu.count", [] { torch::prelu(ramp({2, 3}), ramp({2})); });
    report_error("relu.bool", [] { torch::relu(torch::tensor({true})); });
  });
}

const Program program("activations", run);

}  // namespace activations

// softmax and related functions, cumulative sums, products and extrema.
namespace softmax_and_scans {

namespace F = torch::nn::functional;

void run() {
  const Tensor x = ramp({2, 3}, -2, 2);
  grad1("softmax", [](const Tensor& t) { return torch::softmax(t, 1); }, x);
  grad1("softmax.0", [](const Tensor& t) { return t.softmax(0); }, x);
  grad1("softmax.neg", [](const Tensor& t) { return t.softmax(-1); }, ramp({2, 2, 3}));
  grad1("log_softmax", [](const Tensor& t) { return torch::log_softmax(t, 1); }, x);
  grad1("log_softmax.0", [](const Tensor& t) { return t.log_softmax(0); }, ramp({3, 2, 2}));
  grad1("softmin", [](const Tensor& t) { return F::softmin(t, F::SoftminFuncOptions(1)); }, x);
  grad1("F.softmax", [](const Tensor& t) { return F::softmax(t, F::SoftmaxFuncOptions(0)); }, x);
  grad1("F.log_softmax", [](const Tensor& t) { return F::log_softmax(t, F::LogSoftmaxFuncOptions(-1)); }, x);
  grad1("softmax.scalar", [](const Tensor& t) { return t.softmax(0); }, ramp({}));
  grad1(
      "softmax.far", [](const Tensor& t) { return t.softmax(0); },
      torch::tensor({1000., 999., -1000.}, torch::kFloat64));
  grad1(
      "log_softmax.far", [](const Tensor& t) { return t.log_softmax(0); },
      torch::tensor({1000., 999., -1000.}, torch::kFloat64));
  grad1(
      "softmax.inf", [](const Tensor& t) { return t.softmax(0); },
      torch::tensor({-kInf, 1., 2.}, torch::kFloat64), 1);
  grad1(
      "softmax.allinf", [](const Tensor& t) { return t.softmax(0); },
      torch::full({2}, -kInf, torch::kFloat64), 1);
  section("softmax.dtype", [] {
    report("softmax.dtype", torch::softmax(torch::tensor({1, 2, 3}), 0, torch::kFloat64));
    report("softmax.f32", torch::softmax(ramp({4}).to(torch::kFloat32), 0));
    report("softmax.empty", torch::softmax(torch::zeros({0, 3}), 1));
    report_error("softmax.range", [] { torch::softmax(ramp({2}), 1); });
    report_error("softmax.int", [] { torch::softmax(torch::tensor({1, 2}), 0); });
  });

  grad1("cumsum", [](const Tensor& t) { return torch::cumsum(t, 1); }, x);
  grad1("cumsum.0", [](const Tensor& t) { return t.cumsum(0); }, x);
  grad1("cumprod", [](const Tensor& t) { return torch::cumprod(t, 1); }, x);
  grad1(
      "cumprod.zero", [](const Tensor& t) { return t.cumprod(0); },
      torch::tensor({2., 0., 3., 4.}, torch::kFloat64));
  grad1(
      "cumprod.zeros", [](const Tensor& t) { return t.cumprod(0); },
      torch::tensor({2., 0., 3., 0., 5.}, torch::kFloat64));
  grad1("cummax", [](const Tensor& t) { return std::get<0>(torch::cummax(t, 1)); }, x);
  grad1("cummin", [](const Tensor& t) { return std::get<0>(t.cummin(0)); }, x);
  grad1("logcumsumexp", [](const Tensor& t) { return torch::logcumsumexp(t, 1); }, x);
  grad1(
      "logcumsumexp.far", [](const Tensor& t) { return t.logcumsumexp(0); },
      torch::tensor({700., 800., -1000., 801.}, torch::kFloat64), 1);
  section("scan.indices", [] {
    const Tensor v = torch::tensor({1., 3., 3., 2., 5., 5.}, torch::kFloat64);
    report("cummax.indices", std::get<1>(torch::cummax(v, 0)));
    report("cummin.indices", std::get<1>(torch::cummin(-v, 0)));
    const Tensor holes = torch::tensor({1., kNan, 3., 4.}, torch::kFloat64);
    report("cummax.nan", std::get<0>(holes.cummax(0)));
    report("cummax.nan_indices", std::get<1>(holes.cummax(0)));
    grad1("cummax.ties", [](const Tensor& t) { return std::get<0>(t.cummax(0)); }, v, 1);
    report("cumsum.int", torch::cumsum(torch::tensor({1, 2, 3}, torch::kInt32), 0));
    report("cumsum.bool", torch::cumsum(torch::tensor({true, true, false}), 0));
    report("cumsum.dtype", torch::cumsum(torch::tensor({1, 2, 3}), 0, torch::kFloat64));
    report("cumprod.int", torch::cumprod(torch::tensor({2, 3, 4}), 0));
    report("cumsum.scalar", torch::tensor(3.5).cumsum(0));
    report("cumsum.empty", torch::zeros({0, 2}).cumsum(0));
    Tensor w = ramp({4});
    w.cumsum_(0);
    report("cumsum_", w);
    w.cumprod_(0);
    report("cumprod_", w);
    report_error("cumsum.range", [] { torch::cumsum(ramp({2}), 1); });
    report("diff", torch::diff(v));
    report("diff.2", torch::diff(v, 2));
    grad1("diff.grad", [](const Tensor& t) { return torch::diff(t, 1, 1); }, ramp({2, 3}));
  });
}

const Program program("softmax_and_scans", run);

}  // namespace softmax_and_scans
