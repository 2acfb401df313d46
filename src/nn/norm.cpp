// Functions and modules of normalisations and distances: BatchNorm, LayerNorm, CosineSimilarity and others.
#include <ebb/autograd/grad_mode.h>
#include <ebb/nn/init.h>
#include <ebb/nn/modules/cross_map_lrn.h>
#include <ebb/nn/modules/norm.h>
#include <ebb/nn/modules/sync_batch_norm.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/index.h>
#include <ebb/ops/norm.h>
#include <ebb/ops/pool.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>

#include "nn/stateless.h"
#include "ops/common/autocast.h"

namespace ebb::nn {

namespace functional {

Variable batch_norm(const Variable& input, const Variable& running_mean, const Variable& running_var,
                    const BatchNormFuncOptions& options) {
  EBB_CHECK(input.dim() >= 2, "batch_norm: Expected at least 2 input dimensions, but got ", input.dim(),
            ". Shape the input [batch, channels, ...].");
  EBB_CHECK(!(options.training() ? options.eps() <= 0 : options.eps() < 0), "batch_norm: eps must be ",
            options.training() ? "positive during training" : "non-negative", ", but got ", options.eps(),
            ".");
  if (options.training()) {
    std::int64_t values = input.size(0);
    for (std::int64_t d = 2; d < input.dim(); ++d) values *= input.size(d);
    EBB_CHECK(values != 1, "Expected more than 1 value per channel when training, got input size ",
              input.sizes(), ". Give it a larger batch, or call eval() first.");
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
  if (input.dim() > 3)  // PyTorch uses avg_pool3d here, so its autocast rule applies
    if (const auto cast = ops::autocast("avg_pool3d", input)) [[unlikely]]
      return local_response_norm(cast(input), options);
  if (input.numel() == 0) return input;
  const std::int64_t size = options.size();
  const Variable squares = (input * input).flatten(2).unsqueeze(1);
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

}  // namespace functional

namespace F = functional;

namespace {

/// Registers the parameters and buffers of batch and instance norm in the order of torch's state_dict.
template <class M>
void register_all(M& m) {
  const std::int64_t features = m.options.num_features();
  const bool affine = m.options.affine(), shift = affine && m.options.bias();
  const bool track = m.options.track_running_stats();
  m.weight = m.register_parameter("weight", affine ? empty({features}) : Variable(), affine);
  m.bias = m.register_parameter("bias", shift ? empty({features}) : Variable(), shift);
  m.running_mean = m.register_buffer("running_mean", track ? zeros({features}) : Variable());
  m.running_var = m.register_buffer("running_var", track ? ones({features}) : Variable());
  m.num_batches_tracked =
      m.register_buffer("num_batches_tracked", track ? zeros({}, TensorOptions(kLong)) : Variable());
}

template <class M>
void fill_parameters(M& m) {
  if (m.weight.defined()) init::ones_(m.weight);
  if (m.bias.defined()) init::zeros_(m.bias);
}

template <class M>
void clear_statistics(M& m) {
  if (!m.running_mean.defined()) return;
  init::zeros_(m.running_mean);
  init::ones_(m.running_var);
  init::zeros_(m.num_batches_tracked);
}

// Prints bias=false for a scale without a shift. Otherwise prints nothing, because libtorch's modules do not
// have this option.
void print_bias(Fields& fields, bool affine, bool bias) {
  if (affine && !bias) fields("bias", false);
}

template <class Options>
void print_norm(std::ostream& stream, const std::type_info& module, const Options& o) {
  Fields fields(stream, module);
  fields(o.num_features())("eps", o.eps())("momentum", o.momentum())("affine", o.affine());
  print_bias(fields, o.affine(), o.bias());
  fields("track_running_stats", o.track_running_stats());
}

}  // namespace

template <std::size_t D>
BatchNormImpl<D>::BatchNormImpl(BatchNormOptions options_) : options(options_) {
  BatchNormImpl::reset();
}
template <std::size_t D>
void BatchNormImpl<D>::reset() {
  register_all(*this);
  reset_parameters();
}
template <std::size_t D>
void BatchNormImpl<D>::reset_running_stats() {
  clear_statistics(*this);
}
template <std::size_t D>
void BatchNormImpl<D>::reset_parameters() {
  reset_running_stats();
  fill_parameters(*this);
}
template <std::size_t D>
void BatchNormImpl<D>::pretty_print(std::ostream& stream) const {
  print_norm(stream, typeid(BatchNormImpl), options);
}
template <std::size_t D>
Variable BatchNormImpl<D>::forward(const Variable& input) {
  return at_path(*this, [&] {
    const std::int64_t dims = input.dim();
    if (D == 1)
      EBB_CHECK(dims == 2 || dims == 3, "expected 2D or 3D input (got ", dims, "D input): shape ",
                input.sizes(), ".");
    else
      EBB_CHECK(dims == D + 2, "expected ", std::uint64_t{D + 2}, "D input (got ", dims, "D input): shape ",
                input.sizes(), ".");
    double momentum = options.momentum().value_or(0.0);
    if (this->is_training() && options.track_running_stats() && num_batches_tracked.defined()) {
      NoGradGuard no_grad;
      num_batches_tracked.add_(1);
      if (!options.momentum()) momentum = 1.0 / num_batches_tracked.template item<double>();
    }
    return F::batch_norm(input, running_mean, running_var,
                         F::BatchNormFuncOptions()
                             .weight(weight)
                             .bias(bias)
                             .training(this->is_training() || !options.track_running_stats())
                             .momentum(momentum)
                             .eps(options.eps()));
  });
}

template <std::size_t D>
InstanceNormImpl<D>::InstanceNormImpl(InstanceNormOptions options_) : options(options_) {
  InstanceNormImpl::reset();
}
template <std::size_t D>
void InstanceNormImpl<D>::reset() {
  register_all(*this);
  reset_parameters();
}
template <std::size_t D>
void InstanceNormImpl<D>::reset_running_stats() {
  clear_statistics(*this);
}
template <std::size_t D>
void InstanceNormImpl<D>::reset_parameters() {
  reset_running_stats();
  fill_parameters(*this);
}
template <std::size_t D>
void InstanceNormImpl<D>::pretty_print(std::ostream& stream) const {
  print_norm(stream, typeid(InstanceNormImpl), options);
}
template <std::size_t D>
Variable InstanceNormImpl<D>::forward(const Variable& input) {
  return at_path(*this, [&] {
    const std::int64_t dims = input.dim();
    EBB_CHECK(dims == D + 1 || dims == D + 2, "expected ", std::uint64_t{D + 1}, "D or ",
              std::uint64_t{D + 2}, "D input (got ", dims, "D input): shape ", input.sizes(), ".");
    const bool single = dims == D + 1;
    const Variable out =
        F::instance_norm(single ? input.unsqueeze(0) : input,
                         F::InstanceNormFuncOptions()
                             .running_mean(running_mean)
                             .running_var(running_var)
                             .weight(weight)
                             .bias(bias)
                             .use_input_stats(this->is_training() || !options.track_running_stats())
                             .momentum(options.momentum())
                             .eps(options.eps()));
    return single ? out.squeeze(0) : out;
  });
}

bool counts_batches(const Module& module) {
  const auto is_any = [&]<class... M>(std::type_identity<M>...) {
    return (... || dynamic_cast<const M*>(&module));
  };
  return is_any(std::type_identity<BatchNorm1dImpl>(), std::type_identity<BatchNorm2dImpl>(),
                std::type_identity<BatchNorm3dImpl>(), std::type_identity<SyncBatchNormImpl>(),
                std::type_identity<InstanceNorm1dImpl>(), std::type_identity<InstanceNorm2dImpl>(),
                std::type_identity<InstanceNorm3dImpl>());
}

template class BatchNormImpl<1>;
template class Cloneable<BatchNormImpl<1>>;
template class BatchNormImpl<2>;
template class Cloneable<BatchNormImpl<2>>;
template class BatchNormImpl<3>;
template class Cloneable<BatchNormImpl<3>>;
template class InstanceNormImpl<1>;
template class Cloneable<InstanceNormImpl<1>>;
template class InstanceNormImpl<2>;
template class Cloneable<InstanceNormImpl<2>>;
template class InstanceNormImpl<3>;
template class Cloneable<InstanceNormImpl<3>>;

LayerNormImpl::LayerNormImpl(LayerNormOptions options_) : options(std::move(options_)) {
  LayerNormImpl::reset();
}
void LayerNormImpl::reset() {
  const bool affine = options.elementwise_affine(), shift = affine && options.bias();
  weight = register_parameter("weight", affine ? ebb::empty(options.normalized_shape()) : Variable(), affine);
  bias = register_parameter("bias", shift ? ebb::empty(options.normalized_shape()) : Variable(), shift);
  reset_parameters();
}
void LayerNormImpl::reset_parameters() { fill_parameters(*this); }
void LayerNormImpl::pretty_print(std::ostream& stream) const {
  Fields fields(stream, typeid(LayerNormImpl));
  fields(IntArrayRef(options.normalized_shape()))("eps", options.eps())("elementwise_affine",
                                                                        options.elementwise_affine());
  print_bias(fields, options.elementwise_affine(), options.bias());
}
Variable LayerNormImpl::forward(const Variable& input) {
  return at_path(*this, [&] {
    return F::layer_norm(
        input,
        F::LayerNormFuncOptions(options.normalized_shape()).weight(weight).bias(bias).eps(options.eps()));
  });
}

std::tuple<Variable, Variable> LayerNormImpl::forward_sum(const Variable& input, const Variable& residual) {
  return at_path(*this, [&] {
    return add_layer_norm(input, residual, options.normalized_shape(), weight, bias, options.eps());
  });
}

template class Cloneable<LayerNormImpl>;

GroupNormImpl::GroupNormImpl(GroupNormOptions options_) : options(options_) { GroupNormImpl::reset(); }
void GroupNormImpl::reset() {
  const bool affine = options.affine(), shift = affine && options.bias();
  EBB_CHECK(options.num_groups() != 0 && options.num_channels() % options.num_groups() == 0,
            "GroupNorm: num_channels (", options.num_channels(), ") must be divisible by num_groups (",
            options.num_groups(), ").");
  weight = register_parameter("weight", affine ? empty({options.num_channels()}) : Variable(), affine);
  bias = register_parameter("bias", shift ? empty({options.num_channels()}) : Variable(), shift);
  reset_parameters();
}
void GroupNormImpl::reset_parameters() { fill_parameters(*this); }
void GroupNormImpl::pretty_print(std::ostream& stream) const {
  Fields fields(stream, typeid(GroupNormImpl));
  fields(options.num_groups())(options.num_channels())("eps", options.eps())("affine", options.affine());
  print_bias(fields, options.affine(), options.bias());
}
Variable GroupNormImpl::forward(const Variable& input) {
  return at_path(*this, [&] {
    return F::group_norm(
        input, F::GroupNormFuncOptions(options.num_groups()).weight(weight).bias(bias).eps(options.eps()));
  });
}

template class Cloneable<GroupNormImpl>;

static void print(Fields& out, const LocalResponseNormOptions& o) {
  out(o.size())("alpha", o.alpha())("beta", o.beta())("k", o.k());
}
EBB_STATELESS_AS(F::local_response_norm, LocalResponseNormImpl, LocalResponseNormOptions, Variable);

static void print(Fields& out, const CosineSimilarityOptions& o) { out("dim", o.dim())("eps", o.eps()); }
EBB_STATELESS_AS(F::cosine_similarity, CosineSimilarityImpl, CosineSimilarityOptions, Variable, Variable);

static void print(Fields& out, const PairwiseDistanceOptions& o) {
  out("p", o.p())("eps", o.eps())("keepdim", o.keepdim());
}
EBB_STATELESS_AS(F::pairwise_distance, PairwiseDistanceImpl, PairwiseDistanceOptions, Variable, Variable);

Variable functional::rms_norm(const Variable& input, const RMSNormFuncOptions& options) {
  return ebb::rms_norm(input, options.normalized_shape(), options.weight(), options.eps());
}

RMSNormImpl::RMSNormImpl(RMSNormOptions options_) : options(std::move(options_)) { RMSNormImpl::reset(); }
void RMSNormImpl::reset() {
  const bool affine = options.elementwise_affine();
  weight = register_parameter("weight", affine ? ebb::empty(options.normalized_shape()) : Variable(), affine);
  reset_parameters();
}
void RMSNormImpl::reset_parameters() {
  if (weight.defined()) init::ones_(weight);
}
void RMSNormImpl::pretty_print(std::ostream& stream) const {
  Fields fields(stream, typeid(RMSNormImpl));
  fields(IntArrayRef(options.normalized_shape()));
  if (options.eps()) fields("eps", *options.eps());
  fields("elementwise_affine", options.elementwise_affine());
}
Variable RMSNormImpl::forward(const Variable& input) {
  return at_path(*this,
                 [&] { return ebb::rms_norm(input, options.normalized_shape(), weight, options.eps()); });
}

std::tuple<Variable, Variable> RMSNormImpl::forward_sum(const Variable& input, const Variable& residual) {
  return at_path(*this, [&] {
    return ebb::add_rms_norm(input, residual, options.normalized_shape(), weight, options.eps());
  });
}

template class Cloneable<RMSNormImpl>;

static void check(const CrossMapLRN2dOptions& o) {
  EBB_CHECK(o.size() > 0, "CrossMapLRN2d: size must be positive, got ", o.size(), ".");
}
static void print(Fields& out, const CrossMapLRN2dOptions& o) {
  out(o.size())("alpha", o.alpha())("beta", o.beta())("k", o.k());
}
static Variable call(const CrossMapLRN2dImpl& m, const Variable& x) {
  EBB_CHECK(x.defined() && x.dim() == 4, "CrossMapLRN2d: expected an input (N, C, H, W), got shape ",
            x.defined() ? x.sizes() : IntArrayRef(), ".");
  const CrossMapLRN2dOptions& o = m.options;
  const std::int64_t side = (o.size() - 1) / 2, window = 2 * side + 1;
  const Variable squares = (x * x).reshape({x.size(0), 1, x.size(1), x.size(2) * x.size(3)});
  const Variable means = avg_pool2d(constant_pad_nd(squares, {0, 0, side, side}, 0), {window, 1}, 1);
  const double factor = o.alpha() * static_cast<double>(window) / static_cast<double>(o.size());
  return x * (means.view(x.sizes()) * factor + o.k()).pow(-o.beta());
}
EBB_STATELESS(CrossMapLRN2dImpl, CrossMapLRN2dOptions, Variable);

}  // namespace ebb::nn
