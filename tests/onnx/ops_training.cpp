// Matrix products, normalizations, losses and optimizer steps.
#include "onnx/call.h"

// Matrix products.

namespace onnx {
namespace {

Tensors gemm(const Call& c) {
  const Tensor a = c.integer("transA", 0) ? c[0].t() : c[0];
  const Tensor b = c.integer("transB", 0) ? c[1].t() : c[1];
  const double alpha = c.real("alpha", 1), beta = c.real("beta", 1);
  return {c.has(2) ? ebb::addmm(c[2], a, b, beta, alpha) : ebb::mm(a, b) * alpha};
}

// Products of 8-bit integers minus their zero points, in 32 bits.
Tensors matmul_integer(const Call& c) {
  const auto centred = [&](std::size_t input) {
    const Tensor x = c[input].to(ebb::kInt);
    return c.has(input + 2) ? x - c[input + 2].to(ebb::kInt) : x;
  };
  return {ebb::matmul(centred(0), centred(1))};
}

}  // namespace

void add_linalg(Ops& ops) {
  ops["MatMul"] = [](const Call& c) { return Tensors{ebb::matmul(c[0], c[1])}; };
  ops["Gemm"] = gemm;
  ops["MatMulInteger"] = matmul_integer;
  ops["Einsum"] = [](const Call& c) { return Tensors{ebb::einsum(c.text("equation", ""), c.inputs())}; };
}

// Normalizations.

namespace {

// ONNX's momentum is the weight of the old value, and its running variance uses the biased variance of the
// batch.
Tensors batch_norm(const Call& c) {
  const bool training = c.integer("training_mode", 0);
  const double momentum = c.real("momentum", 0.9), eps = c.real("epsilon", 1e-5);
  if (!training) return {ebb::batch_norm(c[0], c[1], c[2], c[3], c[4], false, 1 - momentum, eps)};
  const Tensor mean = c[3].clone(), var = c[4].clone();
  const Tensor y = ebb::batch_norm(c[0], c[1], c[2], mean, var, true, 1 - momentum, eps);
  const double n = static_cast<double>(c[0].numel()) / static_cast<double>(c[0].size(1));
  const Tensor old = c[4] * momentum;
  return {y, mean, old + (var - old) * ((n - 1) / n)};
}

Tensors layer_norm(const Call& c) {
  const std::int64_t axis = wrap(c.integer("axis", -1), c[0].dim());
  EBB_CHECK(c.integer("stash_type", 1) == 1, "LayerNormalization: ebb computes in float.");
  const auto [y, mean, inverse_deviation] = ebb::native_layer_norm(
      c[0], c[0].sizes().slice(static_cast<std::size_t>(axis)), c[1], c.maybe(2), c.real("epsilon", 1e-5));
  return {y, mean, inverse_deviation};
}

Tensors local_response_norm(const Call& c) {
  namespace F = ebb::nn::functional;
  return {F::local_response_norm(c[0], F::LocalResponseNormFuncOptions(c.integer("size", 0))
                                           .alpha(c.real("alpha", 1e-4))
                                           .beta(c.real("beta", 0.75))
                                           .k(c.real("bias", 1)))};
}

Tensors mean_variance(const Call& c) {
  const Ints axes = c.integers("axes", {0, 2, 3});
  const auto [deviation, mean] = ebb::std_mean(c[0], axes, /*unbiased=*/false, /*keepdim=*/true);
  return {(c[0] - mean) / (deviation + 1e-9)};
}

}  // namespace

void add_norm(Ops& ops) {
  ops["BatchNormalization"] = batch_norm;
  ops["InstanceNormalization"] = [](const Call& c) {
    return Tensors{ebb::instance_norm(c[0], c[1], c[2], {}, {}, true, 0.1, c.real("epsilon", 1e-5))};
  };
  ops["LayerNormalization"] = layer_norm;
  ops["LRN"] = local_response_norm;
  ops["MeanVarianceNormalization"] = mean_variance;
}

// Losses.

namespace {

std::int64_t reduction_of(const Call& c) {
  const std::string name = c.text("reduction", "mean");
  EBB_CHECK(name == "mean" || name == "sum" || name == "none", "reduction: ", name);
  return name == "mean" ? ebb::Reduction::Mean : name == "sum" ? ebb::Reduction::Sum : ebb::Reduction::None;
}

Tensors nll(const Call& c) {
  return {ebb::nll_loss_nd(c[0], c[1], c.maybe(2), reduction_of(c), c.integer("ignore_index", -100))};
}

Tensors cross_entropy(const Call& c) {
  return {ebb::cross_entropy_loss(c[0], c[1], c.maybe(2), reduction_of(c), c.integer("ignore_index", -100)),
          ebb::log_softmax(c[0], 1)};
}

}  // namespace

void add_loss(Ops& ops) {
  ops["NegativeLogLikelihoodLoss"] = nll;
  ops["SoftmaxCrossEntropyLoss"] = cross_entropy;
}

// One optimizer step. Inputs: learning rate, number of previous steps, then all parameters, all gradients and
// all states. Outputs: all parameters, then all states.

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
  c.ignore("beta");  // the coefficient of the gradient after the first step
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
