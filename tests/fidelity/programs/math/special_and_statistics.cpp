// Special functions and statistics; empty and strided tensors.
#include "fidelity.h"

// Special functions, divisors, distances, windows, scatter reductions and statistics.
namespace special_and_statistics {

namespace F = torch::nn::functional;

void run() {
  const Tensor x = ramp({3, 4}, -2, 2), y = ramp({3, 4}, 0.3, 2.5, 1.1), unit = ramp({3, 4}, 0.05, 0.95);
  const struct {
    const char* name;
    Tensor (*call)(const Tensor&);
    Tensor at;
  } unary[] = {
      {"i0", [](const Tensor& t) { return torch::i0(t); }, x},
      {"i0.zero", [](const Tensor& t) { return t.i0(); }, torch::zeros({2}, torch::kFloat64)},
      {"i0.far", [](const Tensor& t) { return torch::i0(t); },
       torch::tensor({-30.0, 12.5, 20.5}, torch::kFloat64)},
      {"special_i1", [](const Tensor& t) { return torch::special_i1(t); }, x},
      {"sinc", [](const Tensor& t) { return torch::sinc(t); }, x},
      {"logit", [](const Tensor& t) { return torch::logit(t); }, unit},
      {"erfinv", [](const Tensor& t) { return t.erfinv(); }, unit},
      {"lgamma", [](const Tensor& t) { return t.lgamma(); }, y},
      {"digamma", [](const Tensor& t) { return t.digamma(); }, y},
      {"frac", [](const Tensor& t) { return t.frac() * t; }, x},
      {"nan_to_num", [](const Tensor& t) { return (t / t.clamp_min(0)).nan_to_num(2, 3, -3) * t; }, x},
      {"rrelu", [](const Tensor& t) { return torch::rrelu(t, 0.1, 0.3); }, x},
      {"logcumsumexp", [](const Tensor& t) { return torch::logcumsumexp(t, 1); }, x},
      {"cummax", [](const Tensor& t) { return std::get<0>(torch::cummax(t, 1)); }, x},
      {"cummin", [](const Tensor& t) { return std::get<0>(torch::cummin(t, 0)); }, x},
      {"diff", [](const Tensor& t) { return torch::diff(t, 2, 1).square(); }, x},
      {"quantile", [](const Tensor& t) { return torch::quantile(t, 0.3, 1); }, x},
      {"frobenius", [](const Tensor& t) { return torch::frobenius_norm(t, {0, 1}); }, x},
      {"unfold", [](const Tensor& t) { return t.unfold(1, 2, 1).square(); }, x},
      {"narrow_copy", [](const Tensor& t) { return t.narrow(1, 1, 2).square(); }, x},
      {"rot90", [](const Tensor& t) { return torch::rot90(t) * 2; }, x},
      {"tril", [](const Tensor& t) { return t.tril(1) * t; }, x},
      {"diag_embed", [](const Tensor& t) { return torch::diag_embed(t, 1); }, x},
      {"trace", [](const Tensor& t) { return t.mm(t.t()).trace(); }, x},
      {"cdist", [](const Tensor& t) { return torch::cdist(t, t.flip(0) + 1); }, x},
      {"cov", [](const Tensor& t) { return (t - t.mean(0)).t().mm(t - t.mean(0)); }, x},
      {"median", [](const Tensor& t) { return std::get<0>(t.median(0)); }, x},
      {"topk", [](const Tensor& t) { return std::get<0>(t.topk(2, 1)).square(); }, x},
      {"msort", [](const Tensor& t) { return torch::msort(t) * t; }, x},
      {"renorm", [](const Tensor& t) { return t / t.norm(2, 1, true).clamp_min(1); }, x},
      {"einsum", [](const Tensor& t) { return torch::einsum("ij,kj->ik", {t, t}); }, x},
      {"pad",
       [](const Tensor& t) {
         return F::pad(t.unsqueeze(0), F::PadFuncOptions({2, 1}).mode(torch::kReflect)).square();
       },
       x},
      {"softmin", [](const Tensor& t) { return F::softmin(t, F::SoftminFuncOptions(1)); }, x},
      {"std_mean", [](const Tensor& t) { return std::get<0>(torch::std_mean(t, 1)); }, x},
      {"amax", [](const Tensor& t) { return t.amax({0, 1}) * t; }, x},
      {"prod0", [](const Tensor& t) { return t.prod(0); }, x},
      {"exp2", [](const Tensor& t) { return torch::exp2(t) - torch::expm1(t); }, x},
      {"float_power", [](const Tensor& t) { return torch::float_power(t, 2.5); }, y},
  };
  for (const auto& c : unary) grad1(c.name, c.call, c.at, c.name == std::string("cdist") ? 1 : 2);

  using Call = Tensor (*)(const Tensors&);
  const struct {
    const char* name;
    Call call;
  } binary[] = {
      {"max.method", [](const Tensors& t) { return t[0].max(t[1]); }},
      {"min.method", [](const Tensors& t) { return t[0].min(t[1]) * t[0]; }},
      {"fmax", [](const Tensors& t) { return torch::fmax(t[0], t[1]); }},
      {"xlogy", [](const Tensors& t) { return torch::xlogy(t[0], t[1]); }},
      {"copysign", [](const Tensors& t) { return torch::copysign(t[1], t[0]); }},
      {"remainder", [](const Tensors& t) { return torch::remainder(t[0], t[1]); }},
      {"ldexp", [](const Tensors& t) { return torch::ldexp(t[0], t[1]); }},
      {"float_power", [](const Tensors& t) { return torch::float_power(t[1], t[0]); }},
      {"dist", [](const Tensors& t) { return torch::dist(t[0], t[1], 3); }},
      {"outer", [](const Tensors& t) { return torch::outer(t[0].flatten(), t[1][0]); }},
      {"cosine", [](const Tensors& t) { return torch::cosine_similarity(t[0], t[1], 0); }},
      {"scatter_sum",
       [](const Tensors& t) {
         return t[0].scatter_reduce(1, torch::tensor({{0, 0, 1, 3}, {2, 2, 2, 1}, {3, 0, 1, 0}}), t[1],
                                    "sum");
       }},
      {"scatter_mean",
       [](const Tensors& t) {
         return t[0].scatter_reduce(1, torch::tensor({{0, 0, 1, 3}, {2, 2, 2, 1}, {3, 0, 1, 0}}), t[1] * t[1],
                                    "mean");
       }},
      {"index_add",
       [](const Tensors& t) { return t[0].index_add(0, torch::tensor({2, 0, 2}), t[1], 0.5).square(); }},
      {"bilinear", [](const Tensors& t) { return torch::bilinear(t[0], t[1], ramp({2, 4, 4})); }},
      {"addbmm",
       [](const Tensors& t) {
         return torch::addbmm(t[0].narrow(1, 0, 3), t[1].unsqueeze(0), t[0].t().unsqueeze(0), 0.5, 2);
       }},
      {"lerp", [](const Tensors& t) { return t[0].lerp(t[1], 0.3) * t[1]; }},
      {"kl",
       [](const Tensors& t) {
         return F::kl_div(t[0].log_softmax(1), t[1].softmax(1),
                          F::KLDivFuncOptions().reduction(torch::kBatchMean));
       }},
      {"gaussian",
       [](const Tensors& t) {
         return torch::huber_loss(t[0], t[1], 1, 0.4) + torch::smooth_l1_loss(t[0], t[1]);
       }},
  };
  for (const auto& c : binary) grads(std::string("two.") + c.name, c.call, {x, y});

  section("integers", [] {
    const Tensor a = torch::tensor({12, -18, 0, 35, 7}), b = torch::tensor({8, 27, 5, -14, 0});
    report("gcd", torch::gcd(a, b));
    report("lcm", a.lcm(b));
    report("gcd.i8", torch::gcd(a.to(torch::kInt8), b));
    report_error("gcd.float", [&] { torch::gcd(a.to(torch::kFloat32), b); });
    report("floor_divide", torch::floor_divide(a, torch::tensor({5, 4, 3, -2, 6})));
    report("remainder", a.remainder(5));
    report("fmod", a.fmod(5));
    report("bincount", torch::bincount(a.abs() % 4));
    report("float_power", torch::float_power(a, 2));
    report("isin", torch::isin(a, torch::tensor({0, 7, 99})));
    report("isin.invert", torch::isin(a.to(torch::kFloat64), torch::tensor({0, 7, 99}), false, true));
    report("isin.scalar", torch::isin(a, 12));
    report("unique", std::get<0>(torch::_unique(b.abs() % 5)));
    report("searchsorted",
           torch::searchsorted(torch::tensor({1, 5, 9}), torch::tensor({0, 5, 10}), false, true));
    report("tril_indices", torch::tril_indices(3, 3));
    report("triu_indices", torch::triu_indices(2, 4, 1));
    report("combinations", torch::combinations(torch::arange(4), 2));
    report("cartesian", torch::cartesian_prod({torch::arange(2), torch::arange(3)}));
    report("vander", torch::vander(torch::tensor({1, 2, 3})));
    report("outer.mixed", torch::outer(torch::tensor({1, 2}), torch::tensor({0.5, 1.5}, torch::kFloat64)));
    report("heaviside", torch::heaviside(torch::tensor({-1.0, 0.0, 2.0}), torch::tensor(0.5)));
    report("max.promoted", torch::tensor({1, 5}).max(torch::tensor({2.5, 3.5})));
  });

  section("drawn", [] {
    torch::manual_seed(21);
    report("rrelu.training", torch::rrelu(ramp({3, 4}), 0.1, 0.4, true));
    report("randn", torch::randn({5}, torch::kFloat64));
    report("randperm", torch::randperm(9));
    report("randint", torch::randint(-4, 9, {7}));
    report("bernoulli", torch::bernoulli(torch::full({9}, 0.4)));
    report("normal", torch::normal(1.0, 2.0, {20}));
    report("exponential", torch::empty({4}, torch::kFloat64).exponential_(2));
    report("rand_like", torch::rand_like(ramp({2, 2})));
  });
}

const Program program("special_and_statistics", run);

}  // namespace special_and_statistics

// Ops with both orders of derivatives on shapes that are empty, scalar, of size one, transposed, strided and
// expanded.
namespace empty_and_strided_shapes {

namespace F = torch::nn::functional;

struct Case {
  const char* name;
  Tensor (*call)(const Tensor&);
};

// The same values with other strides.
Tensor turned(const Tensor& x) { return x.dim() < 2 ? x : x.transpose(0, -1).contiguous().transpose(0, -1); }
Tensor stepped(const Tensor& x) { return torch::stack({x, x * 3}, -1).select(-1, 0); }

void run() {
  const Case unary[] = {
      {"exp", [](const Tensor& x) { return x.exp(); }},
      {"tanh", [](const Tensor& x) { return x.tanh(); }},
      {"sigmoid", [](const Tensor& x) { return x.sigmoid(); }},
      {"log1p", [](const Tensor& x) { return torch::log1p(x.square()); }},
      {"atan", [](const Tensor& x) { return x.atan(); }},
      {"erf", [](const Tensor& x) { return x.erf(); }},
      {"softplus", [](const Tensor& x) { return F::softplus(x); }},
      {"gelu", [](const Tensor& x) { return F::gelu(x); }},
      {"pow", [](const Tensor& x) { return x.pow(3); }},
      {"cumsum", [](const Tensor& x) { return x.cumsum(-1); }},
      {"cumprod", [](const Tensor& x) { return x.cumprod(0); }},
      {"softmax", [](const Tensor& x) { return x.softmax(-1); }},
      {"log_softmax", [](const Tensor& x) { return x.log_softmax(0); }},
      {"sum", [](const Tensor& x) { return x.sum(0, true) * x; }},
      {"mean", [](const Tensor& x) { return x.square().mean(-1); }},
      {"std", [](const Tensor& x) { return x.var(-1, false); }},
      {"flip", [](const Tensor& x) { return x.flip({-1}) * x; }},
      {"roll", [](const Tensor& x) { return x.roll(1) * x; }},
      {"flatten", [](const Tensor& x) { return x.flatten().square(); }},
      {"unsqueeze", [](const Tensor& x) { return x.unsqueeze(-1) * x.unsqueeze(-2); }},
      {"clamp", [](const Tensor& x) { return x.clamp(-0.5, 0.5) * x; }},
      {"where", [](const Tensor& x) { return torch::where(x > 0, x * x, -x); }},
      {"sort", [](const Tensor& x) { return std::get<0>(x.sort(-1)) * x; }},
      {"norm", [](const Tensor& x) { return x.norm(2, -1); }},
      {"repeat", [](const Tensor& x) { return x.repeat_interleave(2) * 0.5; }},
      {"cat", [](const Tensor& x) { return torch::cat({x, x * x}, -1); }},
      {"expand_as", [](const Tensor& x) { return x.sum().expand_as(x) * x; }},
  };
  const Shape shapes[] = {{1}, {5}, {1, 1}, {3, 1}, {1, 4}, {2, 3, 1}, {2, 1, 3, 2}};
  for (const Case& c : unary)
    for (const Shape& shape : shapes) {
      std::string name = c.name;
      for (int64_t n : shape) name += "." + std::to_string(n);
      if (c.name == std::string("unsqueeze") && shape.size() < 2) continue;
      grad1(name, c.call, ramp(shape, -1.5, 1.5));
      if (shape.size() < 3) continue;
      grad1(name + ".turned", [&](const Tensor& x) { return c.call(turned(x)); }, ramp(shape, -1.5, 1.5));
      grad1(name + ".stepped", [&](const Tensor& x) { return c.call(stepped(x)); }, ramp(shape, -1.5, 1.5));
    }

  const Case empty[] = {
      {"exp", [](const Tensor& x) { return x.exp(); }},
      {"cumsum", [](const Tensor& x) { return x.cumsum(0); }},
      {"sum1", [](const Tensor& x) { return x.sum(1); }},
      {"sum", [](const Tensor& x) { return x.sum(); }},
      {"prod", [](const Tensor& x) { return x.prod(); }},
      {"softmax", [](const Tensor& x) { return x.softmax(1); }},
      {"reshape", [](const Tensor& x) { return x.reshape({3, 0, 2}); }},
      {"cat", [](const Tensor& x) { return torch::cat({x, torch::ones({2, 3}, torch::kFloat64)}); }},
      {"mm", [](const Tensor& x) { return x.t().mm(x); }},
      {"max1", [](const Tensor& x) { return std::get<0>(x.max(1)); }},
      {"index", [](const Tensor& x) { return x.index_select(1, torch::tensor({0, 2})); }},
      {"flip", [](const Tensor& x) { return x.flip({0, 1}); }},
  };
  for (const Case& c : empty)
    grad1(std::string("empty.") + c.name, c.call, torch::zeros({0, 3}, torch::kFloat64));

  using Pair = Tensor (*)(const Tensors&);
  const struct {
    const char* name;
    Pair call;
  } binary[] = {
      {"mul", [](const Tensors& t) { return t[0] * t[1]; }},
      {"div", [](const Tensors& t) { return t[0] / t[1]; }},
      {"pow", [](const Tensors& t) { return (t[0] + 3).pow(t[1]); }},
      {"atan2", [](const Tensors& t) { return torch::atan2(t[0], t[1]); }},
      {"hypot", [](const Tensors& t) { return torch::hypot(t[0], t[1]); }},
      {"maximum", [](const Tensors& t) { return torch::maximum(t[0], t[1]); }},
      {"fmod", [](const Tensors& t) { return torch::fmod(t[0] * 5, t[1]); }},
      {"logaddexp", [](const Tensors& t) { return torch::logaddexp(t[0], t[1]); }},
      {"addcmul", [](const Tensors& t) { return torch::addcmul(t[0], t[1], t[1], 0.5); }},
      {"lerp", [](const Tensors& t) { return torch::lerp(t[0] + t[1], t[1] * 2, t[0]); }},
  };
  const std::pair<Shape, Shape> pairs[] = {
      {{}, {2, 3}}, {{2, 1}, {1, 3}}, {{3}, {2, 1, 3}}, {{1}, {1}}, {{2, 0}, {1}}};
  for (const auto& c : binary) {
    int number = 0;
    for (const auto& [a, b] : pairs)
      grads("pair." + std::string(c.name) + std::to_string(number++), c.call,
            {ramp(a), ramp(b, 0.7, 2.2, 1.9)});
  }
}

const Program program("empty_and_strided_shapes", run);

}  // namespace empty_and_strided_shapes
