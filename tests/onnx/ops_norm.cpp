// Normalisations.
#include "onnx/call.h"

namespace onnx {
namespace {

// ONNX's momentum is the share of the old value, and its running variance takes the biased one of the batch.
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

}  // namespace onnx
