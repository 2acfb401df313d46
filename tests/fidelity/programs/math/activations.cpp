// Activation functions: function form, gradients to second order, the joins of the pieces.
#include <set>
#include <string>

#include "fidelity.h"

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
    // 0, +-1, +-3, 6, +-0.5 and +-0.7 are where pieces meet.
    const Tensor joins =
        torch::tensor({0.0, 1.0, -1.0, 3.0, -3.0, 6.0, 0.5, -0.5, 0.7, -0.7}, torch::kFloat64);
    // PyTorch 2.15's hardswish has no slope at -3, that of libtorch 1.13 has one of -1/2.
    if (std::string(c.name) != "hardswish") grad1(std::string("joins.") + c.name, c.call, joins, c.order);
    const Tensor far = torch::tensor({1000.0, -1000.0, 25.0, -25.0}, torch::kFloat64);
    grad1(std::string("far.") + c.name, c.call, far, 1);
    section(c.name,
            [&] { report(std::string("f32.") + c.name, c.call(ramp({4}, -3, 3, 0.9).to(torch::kFloat32))); });
  }

  const Tensor odd = torch::tensor({kNan, kInf, -kInf, 0.0}, torch::kFloat64);
  // PyTorch 2.15's softshrink keeps NaN, that of libtorch 1.13 does not. At infinity the others give NaN in
  // libtorch, and their limits in ebb.
  const std::set<std::string> differ = {"softshrink", "gelu",     "gelu_tanh", "silu",
                                        "mish",       "softsign", "hardswish"};
  for (const Case& c : cases)
    if (!differ.count(c.name)) grad1(std::string("odd.") + c.name, c.call, odd, 1);

  // A weight per channel: dimension 1 of the input.
  grads("prelu_channels", [](const Tensors& x) { return torch::prelu(x[0], x[1]); },
        {ramp({2, 3, 2}, -2, 2), ramp({3}, 0.1, 0.9)});
  grad1(
      "glu_last", [](const Tensor& x) { return torch::glu(x); }, ramp({2, 4}, -2, 2));

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
