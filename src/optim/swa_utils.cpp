// AveragedModel, update_bn and SWALR.
#include <ebb/autograd/grad_mode.h>
#include <ebb/nn/modules/norm.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/optim/swa_utils.h>

#include "ops/elementwise/foreach.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace ebb::optim::swa_utils {

namespace {

void check_decay(double decay) {
  EBB_CHECK(decay >= 0 && decay <= 1, "get_ema_avg_fn: Invalid decay value ", decay,
            " provided. Please provide a value in [0,1] range.");
}

// Averages floating tensors in place with one fused lerp of `weight`. Averages integer tensors with `average`
// and truncates the results.
void average_all(std::vector<Variable>& averaged, const std::vector<Variable>& current,
                 const Variable& num_averaged, double weight, const AverageFunction& average) {
  std::vector<Variable> floating, ends;
  for (std::size_t i = 0; i < averaged.size(); ++i) {
    if (is_floating(averaged[i].dtype())) {
      floating.push_back(averaged[i]);
      ends.push_back(current[i].to(averaged[i].device(), averaged[i].scalar_type()));
    } else {
      averaged[i].copy_(average(averaged[i], current[i].to(averaged[i].device()), num_averaged));
    }
  }
  foreach
    ::lerp_(floating, ends, weight);
}

template <std::size_t D>
void find_momentum(nn::Module& module, std::vector<std::pair<optional<double>*, optional<double>>>& momenta) {
  auto* const norm = dynamic_cast<nn::BatchNormImpl<D>*>(&module);
  if (!norm) return;
  norm->reset_running_stats();
  optional<double>& momentum = norm->options.momentum();
  momenta.emplace_back(&momentum, momentum);
  momentum = nullopt;
}

}  // namespace

AverageFunction get_swa_avg_fn() {
  return [](const Variable& averaged, const Variable& current, const Variable& num_averaged) {
    return averaged + (current - averaged) / (num_averaged + 1);
  };
}

MultiAverageFunction get_swa_multi_avg_fn() {
  return [](std::vector<Variable>& averaged, const std::vector<Variable>& current,
            const Variable& num_averaged) {
    average_all(averaged, current, num_averaged, 1 / (num_averaged.item<double>() + 1), get_swa_avg_fn());
  };
}

AverageFunction get_ema_avg_fn(double decay) {
  check_decay(decay);
  return [decay](const Variable& averaged, const Variable& current, const Variable&) {
    return averaged * decay + current * (1 - decay);
  };
}

MultiAverageFunction get_ema_multi_avg_fn(double decay) {
  check_decay(decay);
  return [decay](std::vector<Variable>& averaged, const std::vector<Variable>& current,
                 const Variable& num_averaged) {
    average_all(averaged, current, num_averaged, 1 - decay, get_ema_avg_fn(decay));
  };
}

AveragedModule::AveragedModule(MultiAverageFunction average, bool use_buffers)
    : nn::Module("AveragedModel"), average_(std::move(average)), use_buffers_(use_buffers) {
  n_averaged = register_buffer("n_averaged", zeros({}, TensorOptions(kLong)));
}

void AveragedModule::adopt(std::shared_ptr<nn::Module> copy) {
  copy_ = register_module("module", std::move(copy));
  train(copy_->is_training());
}

std::vector<Variable> AveragedModule::averaged_tensors(const nn::Module& model) const {
  std::vector<Variable> tensors = model.parameters();
  if (use_buffers_)
    for (const Variable& buffer : model.buffers()) tensors.push_back(buffer);
  for (Variable& each : tensors) each = each.detach();
  return tensors;
}

void AveragedModule::update_parameters(const nn::Module& model) {
  const NoGradGuard no_grad;
  std::vector<Variable> averaged = averaged_tensors(*copy_);
  const std::vector<Variable> current = averaged_tensors(model);
  const std::vector<Variable> buffers = copy_->buffers(), now = model.buffers();
  bool fits = averaged.size() == current.size() && buffers.size() == now.size();
  for (std::size_t i = 0; fits && i < current.size(); ++i) fits = averaged[i].sizes() == current[i].sizes();
  EBB_CHECK(fits, "AveragedModel::update_parameters: the model has other tensors (",
            std::uint64_t{current.size()}, ") than the one from which the average was created (",
            std::uint64_t{averaged.size()}, "), or of other shapes.");
  if (n_averaged.item<std::int64_t>() == 0)
    for (std::size_t i = 0; i < averaged.size(); ++i) averaged[i].copy_(current[i]);
  else
    average_(averaged, current, n_averaged);
  if (!use_buffers_)
    for (std::size_t i = 0; i < buffers.size(); ++i) buffers[i].detach().copy_(now[i]);
  n_averaged += 1;
}

FreshStatistics::FreshStatistics(nn::Module& model) : model_(model), was_training_(model.is_training()) {
  const NoGradGuard no_grad;
  model.apply([&](nn::Module& module) {
    find_momentum<1>(module, momenta_);
    find_momentum<2>(module, momenta_);
    find_momentum<3>(module, momenta_);
  });
  model.train();
}

FreshStatistics::~FreshStatistics() {
  for (auto& [momentum, before] : momenta_) *momentum = before;
  model_.train(was_training_);
}

SWALR::SWALR(Optimizer& optimizer, const PerGroup& swa_lr, std::int64_t anneal_epochs, Anneal anneal,
             std::int64_t last_epoch)
    : EpochScheduler(optimizer, last_epoch),
      swa_lrs_(swa_lr.of("SWALR", "swa_lr", optimizer)),
      anneal_epochs_(anneal_epochs),
      anneal_(anneal) {
  EBB_CHECK(anneal_epochs >= 0, "SWALR: anneal_epochs must be equal or greater than 0, got ", anneal_epochs,
            ".");
  begin();
}

// Returns the completed fraction of the annealing to swa_lr.
double SWALR::share(std::int64_t epoch) const {
  const double t = std::clamp(
      static_cast<double>(epoch) / static_cast<double>(std::max<std::int64_t>(anneal_epochs_, 1)), 0.0, 1.0);
  return anneal_ == Anneal::linear ? t : (1 - std::cos(std::numbers::pi * t)) / 2;
}

double SWALR::next(std::size_t group, double now) {
  const std::int64_t steps = step_count_;  // in a SequentialLR it may be less than the epoch, as in PyTorch
  const std::int64_t epoch = anneal_epochs_ == 0 ? std::max<std::int64_t>(steps, 1) : steps;
  // `from`, the rate before annealing, is computed from the current rate `now`, because another schedule may
  // have changed the rate.
  const double to = swa_lrs_[group], before = share(epoch - 1), after = share(epoch);
  const double from = before == 1 ? to : (now - before * to) / (1 - before);
  return to * after + from * (1 - after);
}

}  // namespace ebb::optim::swa_utils
