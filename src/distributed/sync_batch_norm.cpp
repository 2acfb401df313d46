// sync_batch_norm: batch norm over the batches of all ranks, and the hooks that put it into a net.
#include <ebb/autograd/backward.h>
#include <ebb/autograd/record.h>
#include <ebb/distributed/functional.h>
#include <ebb/distributed/sync_batch_norm.h>
#include <ebb/nn/modules/norm.h>
#include <ebb/nn/modules/sync_batch_norm.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/norm.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>

#include <utility>

namespace ebb::distributed {
namespace {

using autograd::GradList;

// The mean and the biased variance of each channel, and the number of values that they come from.
struct Statistics {
  Variable mean, variance, count;
};

DType statistics_dtype(const Variable& x) { return x.scalar_type() == kDouble ? kDouble : kFloat; }

std::vector<std::int64_t> all_but_channels(const Variable& x) {
  std::vector<std::int64_t> dims = {0};
  for (std::int64_t d = 2; d < x.dim(); ++d) dims.push_back(d);
  return dims;
}

// Shapes a value of each channel so that it broadcasts to x.
Variable along_channels(const Variable& values, const Variable& x) {
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(x.dim()), 1);
  sizes[1] = -1;
  return values.view(sizes);
}

// Computes the statistics of each rank from deviations from its own mean, and joins them without a loss of
// digits. All ranks join the same numbers in the same order, so they get the same bits.
Statistics statistics_of(const Variable& x, const ProcessGroup& group) {
  const std::int64_t channels = x.size(1), own = channels ? x.numel() / channels : 0;
  const TensorOptions options = TensorOptions(statistics_dtype(x)).device(x.device());
  Variable packed = zeros({1, 2 * channels + 1}, options);
  if (own) {
    const auto [variance, mean] = var_mean(x.to(options.dtype()), all_but_channels(x), /*unbiased=*/false);
    packed.narrow(1, 0, channels).copy_(mean);
    packed.narrow(1, channels, channels).copy_(variance);
    packed.narrow(1, 2 * channels, 1).fill_(static_cast<double>(own));
  }
  const Variable all = zeros({group.size(), packed.size(1)}, options);
  all_gather_into_tensor(all, packed, group);
  const Variable means = all.narrow(1, 0, channels), counts = all.narrow(1, 2 * channels, 1);
  const Variable count = counts.sum();
  const Variable mean = (means * counts).sum(0) / count;
  const Variable squares = all.narrow(1, channels, channels) + (means - mean).square();
  return {mean, (squares * counts).sum(0) / count, count};
}

// Computes the same result by differentiable operations, for derivatives of second and higher order.
Variable compose(const Variable& x, const Variable& weight, const Variable& bias, const Variable& count,
                 double eps, const ProcessGroup& group) {
  const auto mean_of = [&](const Variable& values) {
    return along_channels(
        functional::all_reduce(values.sum(all_but_channels(x)), ReduceOp::SUM, group) / count, x);
  };
  const Variable wide = x.to(statistics_dtype(x)), centered = wide - mean_of(wide);
  Variable y = centered * (mean_of(centered.square()) + eps).rsqrt();
  if (weight.defined()) y = y * along_channels(weight, x);
  if (bias.defined()) y = y + along_channels(bias, x);
  return y.to(x.scalar_type());
}

struct SyncBatchNormBackward : autograd::Node {
  std::string name() const override { return "SyncBatchNormBackward"; }
  // All ranks take part in the reduction, also one whose gradient is undefined.
  bool runs_on_undefined() const override { return true; }

  GradList apply(GradList&& grads) override {
    const Variable dy = grad_or_zeros(grads, 0), x = saved_x.unpack(), weight = saved_weight.unpack();
    if (GradMode::is_enabled()) return differentiable(dy, x, weight);
    const DType dtype = statistics_dtype(x);
    const std::vector<std::int64_t> dims = all_but_channels(x);
    const Variable gradient = dy.to(dtype), inverse = (statistics.variance + eps).rsqrt();
    const Variable normal =
        (x.to(dtype) - along_channels(statistics.mean, x)).mul_(along_channels(inverse, x));
    const Variable sums = stack({gradient.sum(dims), (gradient * normal).sum(dims)});
    GradList results(3);
    if (weight.defined()) results[1] = sums[1].clone();
    results[2] = sums[0].clone();
    all_reduce(sums, ReduceOp::SUM, group);
    if (!needs(0)) return results;
    const Variable means = sums / statistics.count;
    Variable dx =
        normal.mul_(along_channels(means[1], x)).add_(along_channels(means[0], x)).neg_().add_(gradient);
    dx.mul_(along_channels(weight.defined() ? inverse * weight.to(dtype) : inverse, x));
    results[0] = dx.to(x.scalar_type());
    return results;
  }

  // Differentiates compose(). Views of the inputs are differentiated, because a hook of a leaf would take its
  // gradient for a complete one.
  GradList differentiable(const Variable& dy, const Variable& x, const Variable& weight) const {
    const auto input = [](const Variable& value) {
      return !value.defined() || value.requires_grad() ? value : value.detach().requires_grad_();
    };
    const Variable from = input(x).view(x.sizes());
    const Variable scale = weight.defined() ? input(weight).view(weight.sizes()) : weight;
    const Variable shift =
        zeros({x.size(1)}, TensorOptions(statistics_dtype(x)).device(x.device())).requires_grad_();
    variable_list inputs = {from, shift};
    if (scale.defined()) inputs.push_back(scale);
    const Variable y = compose(from, scale, shift, statistics.count, eps, group);
    const variable_list found = autograd::grad({y}, inputs, {dy}, true, true);
    return {found[0], scale.defined() ? found[2] : Variable(), found[1]};
  }

  autograd::SavedVariable saved_x{this}, saved_weight{this};
  Statistics statistics;
  double eps = 0;
  ProcessGroup group;
};

}  // namespace

Variable sync_batch_norm(const Variable& x, const Variable& weight, const Variable& bias,
                         const Variable& running_mean, const Variable& running_var, double momentum,
                         double eps, const ProcessGroup& group) {
  EBB_CHECK(x.defined() && x.dim() >= 2, "sync_batch_norm: the input has ", x.defined() ? x.dim() : 0,
            " dimensions, but needs at least 2. Shape it [batch, channels, ...].");
  EBB_CHECK(x.is_floating_point(), "sync_batch_norm: the input is ", x.dtype(),
            ", but needs a floating dtype. Convert it with to().");
  for (const Variable* const each : {&weight, &bias})
    EBB_CHECK(!each->defined() || each->sizes() == IntArrayRef({x.size(1)}),
              "sync_batch_norm: the input of shape ", x.sizes(), " has ", x.size(1),
              " channels, but weight or bias has the shape ", each->sizes(), ".");
  EBB_CHECK(eps > 0, "sync_batch_norm: eps is ", eps, ", but must be positive.");
  const bool recorded = autograd::records(x, weight, bias);
  const NoGradGuard no_grad;
  const Statistics found = statistics_of(x.detach(), group);
  const auto optional_of = [](const Variable& value) {
    return value.defined() ? optional<Variable>(value) : optional<Variable>();
  };
  const Variable y = ebb::batch_norm(x, optional_of(weight), optional_of(bias), found.mean, found.variance,
                                     /*training=*/false, 0, eps);
  if (recorded) {
    const auto node = autograd::make_node<SyncBatchNormBackward>(x, weight, bias);
    node->saved_x.save(x);
    node->saved_weight.save(weight);
    node->statistics = found;
    node->eps = eps;
    node->group = group;
    autograd::set_history(y, node);
  }
  if (running_mean.defined()) {
    const Variable unbiased = found.variance * (found.count / (found.count - 1).clamp_min(1));
    Variable(running_mean).mul_(1 - momentum).add_(found.mean, momentum);
    Variable(running_var).mul_(1 - momentum).add_(unbiased, momentum);
  }
  return y;
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

// Replaces the calls of one module in training mode. The module itself normalizes two zeros meanwhile, in
// evaluation mode, in which it changes nothing.
template <class Norm>
bool convert(nn::Module& module, const ProcessGroup& group) {
  if (!module.as<Norm>()) return false;
  const auto result = std::make_shared<Variable>();
  module.register_forward_pre_hook([result, group](nn::Module& m, const variable_list& inputs) {
    if (!m.is_training() || inputs.size() != 1) return inputs;
    *result = normalize(*m.template as<Norm>(), inputs[0], group);
    std::vector<std::int64_t> sizes(static_cast<std::size_t>(inputs[0].dim()), 1);
    sizes[0] = 2;
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
  return true;
}

}  // namespace

void convert_sync_batchnorm(nn::Module& net, const ProcessGroup& group) {
  // A group of its own: the order of norms and of buckets of DistributedDataParallel in backward() may differ
  // from rank to rank, if ranks use different parameters.
  const ProcessGroup own = group.id() == 0 && group.size() > 1 ? new_group(group.ranks()) : group;
  net.apply([&](nn::Module& module) {
    if (!convert<nn::BatchNorm1dImpl>(module, own) && !convert<nn::BatchNorm2dImpl>(module, own) &&
        !convert<nn::BatchNorm3dImpl>(module, own))
      convert<nn::SyncBatchNormImpl>(module, own);
  });
}

}  // namespace ebb::distributed
