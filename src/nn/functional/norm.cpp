#include <ebb/autograd/grad_mode.h>
#include <ebb/nn/functional/norm.h>
#include <ebb/ops/copy.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/index.h>
#include <ebb/ops/norm.h>
#include <ebb/ops/pool.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>

namespace ebb::nn::functional {

Variable batch_norm(const Variable& input, const Variable& running_mean, const Variable& running_var,
                    const BatchNormFuncOptions& options) {
  EBB_CHECK(input.dim() >= 2, "Expected at least 2 input dimensions, but got ", input.dim());
  if (options.training()) {
    std::int64_t values = input.size(0);
    for (std::int64_t d = 2; d < input.dim(); ++d) values *= input.size(d);
    EBB_CHECK(values != 1, "Expected more than 1 value per channel when training, got input size ",
              input.sizes());
  }
  return ebb::batch_norm(input, options.weight(), options.bias(), running_mean, running_var,
                         options.training(), options.momentum().value_or(0.0), options.eps());
}

Variable instance_norm(const Variable& input, const InstanceNormFuncOptions& options) {
  return ebb::instance_norm(input, options.weight(), options.bias(), options.running_mean(),
                            options.running_var(), options.use_input_stats(), options.momentum(),
                            options.eps());
}

Variable layer_norm(const Variable& input, const LayerNormFuncOptions& options) {
  return ebb::layer_norm(input, options.normalized_shape(), options.weight(), options.bias(), options.eps());
}

Variable group_norm(const Variable& input, const GroupNormFuncOptions& options) {
  return ebb::group_norm(input, options.num_groups(), options.weight(), options.bias(), options.eps());
}

Variable local_response_norm(const Variable& input, const LocalResponseNormFuncOptions& options) {
  EBB_CHECK(input.dim() >= 3, "local_response_norm: Expected 3D or higher dimensionality input (got ",
            input.dim(), " dimensions)");
  const std::int64_t size = options.size();
  const Variable squares = (input * input).reshape({input.size(0), 1, input.size(1), -1});
  const Variable padded = constant_pad_nd(squares, {0, 0, size / 2, (size - 1) / 2}, 0);
  const Variable means = avg_pool2d(padded, {size, 1}, 1).squeeze(1).view(input.sizes());
  return input / (means * options.alpha() + options.k()).pow(options.beta());
}

Variable normalize(const Variable& input, NormalizeFuncOptions options) {
  const Variable length =
      input.norm(options.p(), options.dim(), true).clamp_min(options.eps()).expand_as(input);
  if (!options.out()) return input / length;
  options.out()->copy_(input / length);
  return *options.out();
}

Variable cosine_similarity(const Variable& x1, const Variable& x2,
                           const CosineSimilarityFuncOptions& options) {
  return ebb::cosine_similarity(x1, x2, options.dim(), options.eps());
}

Variable pairwise_distance(const Variable& x1, const Variable& x2,
                           const PairwiseDistanceFuncOptions& options) {
  return ebb::pairwise_distance(x1, x2, options.p(), options.eps(), options.keepdim());
}

Variable pdist(const Variable& input, double p) {
  EBB_CHECK(input.dim() == 2, "pdist: expected a 2-dimensional tensor, got ", input.sizes(), ".");
  const Variable pairs =
      triu_indices(input.size(0), input.size(0), 1, TensorOptions(kLong).device(input.device()));
  return (input.index_select(0, pairs.select(0, 0)) - input.index_select(0, pairs.select(0, 1))).norm(p, -1);
}

}  // namespace ebb::nn::functional
