// sync_batch_norm: batch norm over the batches of all ranks, and the hooks that put it into a net.
#include <ebb/autograd/grad_mode.h>
#include <ebb/distributed/functional.h>
#include <ebb/distributed/sync_batch_norm.h>
#include <ebb/nn/modules/norm.h>
#include <ebb/nn/modules/sync_batch_norm.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/norm.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>

#include "distributed/replicas.h"

#include <utility>

namespace ebb::distributed {

Variable sync_batch_norm(const Variable& x, const Variable& weight, const Variable& bias,
                         const Variable& running_mean, const Variable& running_var, double momentum,
                         double eps, const ProcessGroup& group) {
  if (detail::in_shard) detail::refuse_in_shard("sync_batch_norm");
  EBB_CHECK(x.defined() && x.dim() >= 2, "sync_batch_norm: the input has ", x.defined() ? x.dim() : 0,
            " dimensions, but needs at least 2. Shape it [batch, channels, ...].");
  EBB_CHECK(x.is_floating_point(), "sync_batch_norm: the input is ", x.dtype(),
            ", but needs a floating dtype. Convert it with to().");
  const std::int64_t channels = x.size(1), own = channels ? x.numel() / channels : 0;
  for (const Variable* const each : {&weight, &bias})
    EBB_CHECK(!each->defined() || each->sizes() == IntArrayRef({channels}),
              "sync_batch_norm: the input of shape ", x.sizes(), " has ", channels,
              " channels, but weight or bias has the shape ", each->sizes(), ".");
  EBB_CHECK(eps > 0, "sync_batch_norm: eps is ", eps, ", but must be positive.");

  const Variable wide = x.to(x.scalar_type() == kDouble ? kDouble : kFloat);
  std::vector<std::int64_t> dims = {0};
  for (std::int64_t d = 2; d < x.dim(); ++d) dims.push_back(d);
  // Each rank computes statistics from deviations from its own mean. They are joined without a loss of
  // digits, on all ranks in the same order. An empty batch has sums, which are zero, in place of NaN.
  Variable variance = wide.sum(dims), mean = variance;
  if (own) std::tie(variance, mean) = var_mean(wide, dims, /*unbiased=*/false);
  const Variable rows = zeros({group.size(), 1}, wide.options());
  rows[group.rank()].fill_(1);
  const Variable packed = cat({mean, variance, full({1}, own, wide.options())});
  const Variable all = functional::all_reduce(rows * packed, ReduceOp::SUM, group);
  const Variable means = all.narrow(1, 0, channels), counts = all.narrow(1, 2 * channels, 1).detach();
  const Variable total = counts.sum(), count = total.clamp_min(1);
  mean = (means * counts).sum(0) / count;
  variance = ((all.narrow(1, channels, channels) + (means - mean).square()) * counts).sum(0) / count;

  // batch_norm takes mean and variance for constants. Scale and shift depend on them so that the result has
  // the right derivatives of any order; their values are weight and bias.
  const Variable mean0 = mean.detach(), variance0 = variance.detach(), inverse0 = (variance0 + eps).rsqrt();
  Variable scale = (variance + eps).rsqrt() / inverse0;
  if (weight.defined()) scale = scale * weight;
  Variable shift = (mean0 - mean) * inverse0 * scale;
  if (bias.defined()) shift = shift + bias;
  const Variable y = ebb::batch_norm(wide, scale, shift, mean0, variance0, /*training=*/false, 0, eps);
  if (running_mean.defined()) {
    const NoGradGuard no_grad;
    const Variable unbiased = variance0 * (count / (count - 1).clamp_min(1));
    const Variable rate = (total > 0).to(wide.scalar_type()) * momentum;  // no batch changes nothing
    Variable(running_mean).mul_(1 - rate).add_(mean0 * rate);
    Variable(running_var).mul_(1 - rate).add_(unbiased * rate);
  }
  return y.to(x.scalar_type());
}

namespace {

// Computes what the module computes in training mode.
template <class Norm>
Variable normalize(Norm& norm, const Variable& x, const ProcessGroup& group) {
  EBB_CHECK(x.defined() && x.dim() >= 2 && x.size(1) == norm.options.num_features(),
            "SyncBatchNorm: expected an input of shape [batch, ", norm.options.num_features(),
            ", ...], got shape ", x.defined() ? x.sizes() : IntArrayRef(), ".");
  const bool tracks = norm.options.track_running_stats() && norm.running_mean.defined();
  double momentum = norm.options.momentum().value_or(0.);
  if (tracks) {
    const NoGradGuard no_grad;
    norm.num_batches_tracked.add_(1);
    if (!norm.options.momentum()) momentum = 1. / norm.num_batches_tracked.template item<double>();
  }
  return sync_batch_norm(x, norm.weight, norm.bias, tracks ? norm.running_mean : Variable(),
                         tracks ? norm.running_var : Variable(), momentum, norm.options.eps(), group);
}

// Replaces the calls of one module in training mode. The module itself, which expects an input of `dims`
// dimensions, normalizes no values meanwhile, in evaluation mode, in which it changes nothing.
template <class Norm>
void convert(nn::Module& module, std::size_t dims, const ProcessGroup& group) {
  if (!module.as<Norm>()) return;
  const auto result = std::make_shared<Variable>();
  module.register_forward_pre_hook([result, dims, group](nn::Module& m, const variable_list& inputs) {
    if (!m.is_training() || inputs.size() != 1) return inputs;
    *result = normalize(*m.template as<Norm>(), inputs[0], group);
    std::vector<std::int64_t> sizes(dims, 0);
    sizes[1] = inputs[0].size(1);
    m.train(false);
    return variable_list{inputs[0].detach().new_zeros(sizes)};
  });
  module.register_forward_hook(
      [result](nn::Module& m, const variable_list&, const variable_list& outputs) -> variable_list {
        if (!result->defined()) return outputs;
        m.train(true);
        return {std::exchange(*result, {})};
      });
}

}  // namespace

void convert_sync_batchnorm(nn::Module& net, const ProcessGroup& group) {
  // A group of its own: the order of norms and of buckets of DistributedDataParallel in backward() may differ
  // from rank to rank, if ranks use different parameters.
  const ProcessGroup own = group.id() == 0 && group.size() > 1 ? new_group(group.ranks()) : group;
  net.apply([&](nn::Module& module) {
    convert<nn::BatchNorm1dImpl>(module, 2, own);
    convert<nn::BatchNorm2dImpl>(module, 4, own);
    convert<nn::BatchNorm3dImpl>(module, 5, own);
    convert<nn::SyncBatchNormImpl>(module, 2, own);
  });
}

}  // namespace ebb::distributed
