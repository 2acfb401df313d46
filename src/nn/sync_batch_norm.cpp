// SyncBatchNorm: batch norm over the samples of all processes. ebb always has one process.
#include <ebb/autograd/grad_mode.h>
#include <ebb/nn/init.h>
#include <ebb/nn/modules/container.h>
#include <ebb/nn/modules/sequential.h>
#include <ebb/nn/modules/sync_batch_norm.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/creation/tensor_data.h>
#include <ebb/ops/elementwise.h>

#include "nn/fields.h"
#include "nn/hooks.h"
#include "nn/module_tools.h"

namespace ebb::nn {

SyncBatchNormImpl::SyncBatchNormImpl(BatchNormOptions options_) : options(options_) {
  SyncBatchNormImpl::reset();
}

void SyncBatchNormImpl::reset() {
  const std::int64_t features = options.num_features();
  const bool affine = options.affine(), shift = affine && options.bias();
  const bool track = options.track_running_stats();
  weight = register_parameter("weight", affine ? empty({features}) : Variable(), affine);
  bias = register_parameter("bias", shift ? empty({features}) : Variable(), shift);
  running_mean = register_buffer("running_mean", track ? zeros({features}) : Variable());
  running_var = register_buffer("running_var", track ? ones({features}) : Variable());
  num_batches_tracked =
      register_buffer("num_batches_tracked", track ? zeros({}, TensorOptions(kLong)) : Variable());
  reset_parameters();
}

void SyncBatchNormImpl::reset_running_stats() {
  if (!running_mean.defined()) return;
  init::zeros_(running_mean);
  init::ones_(running_var);
  init::zeros_(num_batches_tracked);
}

void SyncBatchNormImpl::reset_parameters() {
  reset_running_stats();
  if (weight.defined()) init::ones_(weight);
  if (bias.defined()) init::zeros_(bias);
}

void SyncBatchNormImpl::pretty_print(std::ostream& stream) const {
  Fields fields(stream, typeid(SyncBatchNormImpl));
  fields(options.num_features())("eps", options.eps())("momentum", options.momentum())("affine",
                                                                                       options.affine());
  if (options.affine() && !options.bias()) fields("bias", false);
  fields("track_running_stats", options.track_running_stats());
}

Variable SyncBatchNormImpl::forward(const Variable& input) {
  return at_path(*this, [&] {
    EBB_CHECK(input.defined() && input.dim() >= 2, "expected at least 2D input (got ",
              input.defined() ? input.dim() : 0, "D input). Shape the input [batch, channels, ...].");
    double momentum = options.momentum().value_or(0.0);
    if (is_training() && options.track_running_stats() && num_batches_tracked.defined()) {
      NoGradGuard no_grad;
      num_batches_tracked.add_(1);
      if (!options.momentum()) momentum = 1.0 / num_batches_tracked.item<double>();
    }
    return functional::batch_norm(input, running_mean, running_var,
                                  functional::BatchNormFuncOptions()
                                      .weight(weight)
                                      .bias(bias)
                                      .training(is_training() || !options.track_running_stats())
                                      .momentum(momentum)
                                      .eps(options.eps()));
  });
}

template class Cloneable<SyncBatchNormImpl>;

namespace {

// Returns a SyncBatchNorm with the tensors of the module, or null if the module is not a batch norm.
template <std::size_t D>
std::shared_ptr<SyncBatchNormImpl> synchronised(const Module& module) {
  const auto* const norm = module.as<BatchNormImpl<D>>();
  if (!norm) return nullptr;
  auto fresh = std::make_shared<SyncBatchNormImpl>(norm->options);
  auto& parameters = detail::ModuleAccess::parameters(*fresh);
  auto& buffers = detail::ModuleAccess::buffers(*fresh);
  fresh->weight = parameters["weight"] = norm->weight;
  fresh->bias = parameters["bias"] = norm->bias;
  fresh->running_mean = buffers["running_mean"] = norm->running_mean;
  fresh->running_var = buffers["running_var"] = norm->running_var;
  fresh->num_batches_tracked = buffers["num_batches_tracked"] = norm->num_batches_tracked;
  fresh->train(norm->is_training());
  return fresh;
}

std::shared_ptr<SyncBatchNormImpl> synchronised_any(const Module& module) {
  if (auto norm = synchronised<1>(module)) return norm;
  if (auto norm = synchronised<2>(module)) return norm;
  return synchronised<3>(module);
}

// Replaces each batch norm below `parent`. The list that a Sequential or ModuleList stores is also updated.
void convert_children(Module& parent) {
  std::size_t at = 0;
  for (const auto& item : parent.named_children()) {
    const std::size_t position = at++;
    const std::shared_ptr<SyncBatchNormImpl> norm = synchronised_any(*item.value());
    if (!norm) {
      convert_children(*item.value());
    } else if (auto* const sequence = parent.as<SequentialImpl>()) {
      sequence->begin()[static_cast<std::ptrdiff_t>(position)] = AnyModule(norm);
      parent.replace_module(item.key(), norm);
    } else if (auto* const list = parent.as<ModuleListImpl>()) {
      list->begin()[static_cast<std::ptrdiff_t>(position)] = norm;
      parent.replace_module(item.key(), norm);
    } else if (parent.as<ModuleDictImpl>()) {
      parent.replace_module(item.key(), norm);
    }
  }
}

}  // namespace

std::shared_ptr<Module> SyncBatchNorm::convert_sync_batchnorm(const std::shared_ptr<Module>& module) {
  EBB_CHECK(module, "SyncBatchNorm::convert_sync_batchnorm: the module is null.");
  if (auto norm = synchronised_any(*module)) return norm;
  convert_children(*module);
  return module;
}

}  // namespace ebb::nn
