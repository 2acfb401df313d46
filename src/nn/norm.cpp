#include <ebb/autograd/grad_mode.h>
#include <ebb/nn/functional/norm.h>
#include <ebb/nn/init.h>
#include <ebb/nn/modules/norm.h>
#include <ebb/ops/copy.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/shape.h>

#include <ostream>

#include "nn/module_tools.h"
#include "nn/print.h"

namespace ebb::nn {

namespace F = functional;

namespace {

std::string impl_name(const char* kind, std::size_t dims) {
  return "ebb::nn::" + std::string(kind) + std::to_string(dims) + "dImpl";
}

/// What batch and instance norm own, in the order of torch's state_dict.
template <class M>
void register_all(M& m, std::int64_t features, bool affine, bool track) {
  m.weight = m.register_parameter("weight", affine ? empty({features}) : Variable(), affine);
  m.bias = m.register_parameter("bias", affine ? empty({features}) : Variable(), affine);
  m.running_mean = m.register_buffer("running_mean", track ? zeros({features}) : Variable());
  m.running_var = m.register_buffer("running_var", track ? ones({features}) : Variable());
  m.num_batches_tracked =
      m.register_buffer("num_batches_tracked", track ? zeros({}, TensorOptions(kLong)) : Variable());
}

template <class M>
void fill_parameters(M& m) {
  if (!m.weight.defined()) return;
  init::ones_(m.weight);
  init::zeros_(m.bias);
}

template <class M>
void clear_statistics(M& m) {
  if (!m.running_mean.defined()) return;
  init::zeros_(m.running_mean);
  init::ones_(m.running_var);
  init::zeros_(m.num_batches_tracked);
}

template <class Options>
void print(std::ostream& stream, const char* kind, std::size_t dims, const Options& options) {
  stream << "ebb::nn::" << kind << dims << "d(" << options.num_features() << ", eps=" << options.eps()
         << ", momentum=";
  const optional<double> momentum = options.momentum();
  if (momentum)
    stream << *momentum;
  else
    stream << "None";
  stream << ", affine=" << text_of(options.affine())
         << ", track_running_stats=" << text_of(options.track_running_stats()) << ")";
}

}  // namespace

template <std::size_t D>
BatchNormImpl<D>::BatchNormImpl(BatchNormOptions options_)
    : Cloneable<BatchNormImpl<D>>(impl_name("BatchNorm", D)), options(options_) {
  BatchNormImpl::reset();
}
template <std::size_t D>
void BatchNormImpl<D>::reset() {
  register_all(*this, options.num_features(), options.affine(), options.track_running_stats());
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
  print(stream, "BatchNorm", D, options);
}
template <std::size_t D>
Variable BatchNormImpl<D>::forward(const Variable& input) {
  return at_path(*this, [&] {
    const std::int64_t dims = input.dim();
    if (D == 1)
      EBB_CHECK(dims == 2 || dims == 3, "expected 2D or 3D input (got ", dims, "D input)");
    else
      EBB_CHECK(dims == D + 2, "expected ", std::uint64_t{D + 2}, "D input (got ", dims, "D input)");
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
InstanceNormImpl<D>::InstanceNormImpl(InstanceNormOptions options_)
    : Cloneable<InstanceNormImpl<D>>(impl_name("InstanceNorm", D)), options(options_) {
  InstanceNormImpl::reset();
}
template <std::size_t D>
void InstanceNormImpl<D>::reset() {
  register_all(*this, options.num_features(), options.affine(), options.track_running_stats());
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
  print(stream, "InstanceNorm", D, options);
}
template <std::size_t D>
Variable InstanceNormImpl<D>::forward(const Variable& input) {
  return at_path(*this, [&] {
    const std::int64_t dims = input.dim();
    EBB_CHECK(dims == D + 1 || dims == D + 2, "expected ", std::uint64_t{D + 1}, "D or ",
              std::uint64_t{D + 2}, "D input (got ", dims, "D input)");
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
                std::type_identity<BatchNorm3dImpl>(), std::type_identity<InstanceNorm1dImpl>(),
                std::type_identity<InstanceNorm2dImpl>(), std::type_identity<InstanceNorm3dImpl>());
}

template class BatchNormImpl<1>;
template class BatchNormImpl<2>;
template class BatchNormImpl<3>;
template class InstanceNormImpl<1>;
template class InstanceNormImpl<2>;
template class InstanceNormImpl<3>;

LayerNormImpl::LayerNormImpl(LayerNormOptions options_) : options(std::move(options_)) {
  LayerNormImpl::reset();
}
void LayerNormImpl::reset() {
  const bool affine = options.elementwise_affine();
  weight = register_parameter("weight", affine ? ebb::empty(options.normalized_shape()) : Variable(), affine);
  bias = register_parameter("bias", affine ? ebb::empty(options.normalized_shape()) : Variable(), affine);
  reset_parameters();
}
void LayerNormImpl::reset_parameters() { fill_parameters(*this); }
void LayerNormImpl::pretty_print(std::ostream& stream) const {
  stream << "ebb::nn::LayerNorm(" << IntArrayRef(options.normalized_shape()) << ", eps=" << options.eps()
         << ", elementwise_affine=" << text_of(options.elementwise_affine()) << ")";
}
Variable LayerNormImpl::forward(const Variable& input) {
  return at_path(*this, [&] {
    return F::layer_norm(
        input,
        F::LayerNormFuncOptions(options.normalized_shape()).weight(weight).bias(bias).eps(options.eps()));
  });
}

GroupNormImpl::GroupNormImpl(GroupNormOptions options_) : options(options_) { GroupNormImpl::reset(); }
void GroupNormImpl::reset() {
  const bool affine = options.affine();
  weight = register_parameter("weight", affine ? empty({options.num_channels()}) : Variable(), affine);
  bias = register_parameter("bias", affine ? empty({options.num_channels()}) : Variable(), affine);
  reset_parameters();
}
void GroupNormImpl::reset_parameters() { fill_parameters(*this); }
void GroupNormImpl::pretty_print(std::ostream& stream) const {
  stream << "ebb::nn::GroupNorm(" << options.num_groups() << ", " << options.num_channels()
         << ", eps=" << options.eps() << ", affine=" << text_of(options.affine()) << ")";
}
Variable GroupNormImpl::forward(const Variable& input) {
  return at_path(*this, [&] {
    return F::group_norm(
        input, F::GroupNormFuncOptions(options.num_groups()).weight(weight).bias(bias).eps(options.eps()));
  });
}

LocalResponseNormImpl::LocalResponseNormImpl(LocalResponseNormOptions options_) : options(options_) {}
void LocalResponseNormImpl::reset() {}
void LocalResponseNormImpl::pretty_print(std::ostream& stream) const {
  stream << "ebb::nn::LocalResponseNorm(" << options.size() << ", alpha=" << options.alpha()
         << ", beta=" << options.beta() << ", k=" << options.k() << ")";
}
Variable LocalResponseNormImpl::forward(const Variable& input) {
  return at_path(*this, [&] { return F::local_response_norm(input, options); });
}

}  // namespace ebb::nn
