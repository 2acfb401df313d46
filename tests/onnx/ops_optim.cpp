// One step of an optimizer. Inputs: learning rate, number of steps before, then all parameters, all gradients
// and all states; outputs: all parameters, then all states.
#include "onnx/call.h"

namespace onnx {
namespace {

namespace optim = ebb::optim;

struct Step {
  Tensors parameters;
  optim::Optimizer::StateDict state;

  Step(const Call& c, const char* state_name) {
    EBB_CHECK(c[1].item<std::int64_t>() == 0, "only the first step: ONNX and ebb count them differently.");
    const std::size_t n = (c.inputs().size() - 2) / 3;
    for (std::size_t i = 0; i < n; ++i) {
      parameters.push_back(c[2 + i].clone().requires_grad_());
      parameters.back().mutable_grad() = c[2 + n + i].clone();
      state.emplace_back(std::to_string(i) + "." + state_name, c[2 + 2 * n + i]);
    }
  }

  Tensors run(optim::Optimizer& optimizer, const std::string& state_name) {
    optimizer.load_state_dict(state);
    optimizer.step();
    Tensors out = parameters;
    for (const auto& [name, value] : optimizer.state_dict())
      if (name.ends_with(state_name)) out.push_back(value);
    return out;
  }
};

Tensors momentum(const Call& c) {
  c.ignore("beta");  // the share of the gradient after the first step
  Step step(c, "momentum_buffer");
  optim::SGD sgd(step.parameters, optim::SGDOptions(c[0].item<double>())
                                      .momentum(c.real("alpha", 0))
                                      .weight_decay(c.real("norm_coefficient", 0))
                                      .nesterov(c.text("mode", "standard") == "nesterov"));
  return step.run(sgd, "momentum_buffer");
}

Tensors adagrad(const Call& c) {
  Step step(c, "sum");
  optim::Adagrad adagrad(step.parameters, optim::AdagradOptions(c[0].item<double>())
                                              .lr_decay(c.real("decay_factor", 0))
                                              .weight_decay(c.real("norm_coefficient", 0))
                                              .eps(c.real("epsilon", 1e-6)));
  return step.run(adagrad, "sum");
}

}  // namespace

void add_optim(Ops& ops) {
  ops["Momentum"] = momentum;
  ops["Adagrad"] = adagrad;
}

}  // namespace onnx
