// Ops with both orders of derivatives on shapes that are empty, scalar, one wide, turned, stepped and
// expanded.
#include "fidelity.h"

namespace empty_and_strided_shapes {

namespace F = torch::nn::functional;

struct Case {
  const char* name;
  Tensor (*call)(const Tensor&);
};

// The same values behind different strides.
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
      {"cat",
       [](const Tensor& x) {
         return torch::cat({x, x * x}, -1);
       }},
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
      grad1(
          name + ".turned", [&](const Tensor& x) { return c.call(turned(x)); }, ramp(shape, -1.5, 1.5));
      grad1(
          name + ".stepped", [&](const Tensor& x) { return c.call(stepped(x)); }, ramp(shape, -1.5, 1.5));
    }

  const Case empty[] = {
      {"exp", [](const Tensor& x) { return x.exp(); }},
      {"cumsum", [](const Tensor& x) { return x.cumsum(0); }},
      {"sum1", [](const Tensor& x) { return x.sum(1); }},
      {"sum", [](const Tensor& x) { return x.sum(); }},
      {"prod", [](const Tensor& x) { return x.prod(); }},
      {"softmax", [](const Tensor& x) { return x.softmax(1); }},
      {"reshape",
       [](const Tensor& x) {
         return x.reshape({3, 0, 2});
       }},
      {"cat",
       [](const Tensor& x) {
         return torch::cat({x, torch::ones({2, 3}, torch::kFloat64)});
       }},
      {"mm", [](const Tensor& x) { return x.t().mm(x); }},
      {"max1", [](const Tensor& x) { return std::get<0>(x.max(1)); }},
      {"index",
       [](const Tensor& x) {
         return x.index_select(1, torch::tensor({0, 2}));
       }},
      {"flip",
       [](const Tensor& x) {
         return x.flip({0, 1});
       }},
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
