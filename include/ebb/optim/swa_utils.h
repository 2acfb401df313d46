// AveragedModel, update_bn and SWALR: averages of a model during training (torch.optim.swa_utils).
#pragma once

#include <ebb/autograd/variable.h>
#include <ebb/nn/module.h>
#include <ebb/nn/module_holder.h>
#include <ebb/optim/scheduler.h>

#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace ebb::optim::swa_utils {

/// Returns the next average. The arguments are the current average, a tensor of the model, and the number of
/// models averaged before.
using AverageFunction =
    std::function<Variable(const Variable& averaged, const Variable& current, const Variable& num_averaged)>;
/// Computes the averages of all tensors of a model in place.
using MultiAverageFunction = std::function<void(
    std::vector<Variable>& averaged, const std::vector<Variable>& current, const Variable& num_averaged)>;

/// Returns averaged + (current - averaged) / (num_averaged + 1): the mean of all models (stochastic weight
/// averaging, Izmailov et al. 2018).
EBB_API AverageFunction get_swa_avg_fn();
EBB_API MultiAverageFunction get_swa_multi_avg_fn();
/// Returns decay * averaged + (1 - decay) * current: an exponential moving average. Throws for a decay
/// outside [0, 1].
EBB_API AverageFunction get_ema_avg_fn(double decay = 0.999);
EBB_API MultiAverageFunction get_ema_multi_avg_fn(double decay = 0.999);

/// The part of AveragedModel<Model> that does not depend on the model's type.
class EBB_API AveragedModule : public nn::Module {
 public:
  AveragedModule(MultiAverageFunction average, bool use_buffers);
  /// Averages the model's current parameters into the parameters of this module. The first call copies them.
  /// Buffers are averaged with use_buffers, and otherwise copied. Throws for a model with other shapes.
  void update_parameters(const nn::Module& model);

  Variable n_averaged;  ///< number of averaged models, kLong []

 protected:
  void adopt(std::shared_ptr<nn::Module> copy);

 private:
  std::vector<Variable> averaged_tensors(const nn::Module& model) const;

  std::shared_ptr<nn::Module> copy_;
  MultiAverageFunction average_;
  bool use_buffers_;
};

/// A copy of a model. Its parameters are the average of the model's parameters over all calls of
/// update_parameters():
///
///     swa_utils::AveragedModel ema(model, swa_utils::get_ema_multi_avg_fn(0.999));
///     for (...) { optimizer.step(); ema.update_parameters(*model); }
///     swa_utils::update_bn(*loader, ema);
///     ema.forward(x);
///
/// Its state_dict has "n_averaged" and the names of the model with the prefix "module."; save and load work
/// as for any module. The copy is on the model's device.
template <class Model>
class AveragedModel : public AveragedModule {
 public:
  explicit AveragedModel(const std::shared_ptr<Model>& model,
                         MultiAverageFunction average = get_swa_multi_avg_fn(), bool use_buffers = false)
      : AveragedModule(std::move(average), use_buffers),
        module(std::dynamic_pointer_cast<Model>(model->clone())) {
    EBB_CHECK(module, "AveragedModel: clone() of the model gave a module of another type.");
    adopt(module);
  }
  explicit AveragedModel(const nn::ModuleHolder<Model>& model,
                         MultiAverageFunction average = get_swa_multi_avg_fn(), bool use_buffers = false)
      : AveragedModel(model.ptr(), std::move(average), use_buffers) {}
  /// Uses a function that averages one tensor at a time.
  AveragedModel(const std::shared_ptr<Model>& model, AverageFunction average, bool use_buffers = false)
      : AveragedModel(model, each(std::move(average)), use_buffers) {}
  AveragedModel(const nn::ModuleHolder<Model>& model, AverageFunction average, bool use_buffers = false)
      : AveragedModel(model.ptr(), each(std::move(average)), use_buffers) {}

  /// Calls the averaged model's forward.
  template <class... Inputs>
  auto forward(Inputs&&... inputs) {
    return module->forward(std::forward<Inputs>(inputs)...);
  }

  std::shared_ptr<Model> module;

 private:
  static MultiAverageFunction each(AverageFunction average) {
    return
        [average = std::move(average)](std::vector<Variable>& averaged, const std::vector<Variable>& current,
                                       const Variable& num_averaged) {
          for (std::size_t i = 0; i < averaged.size(); ++i)
            averaged[i].copy_(average(averaged[i], current[i].to(averaged[i].device()), num_averaged));
        };
  }
};

/// Resets the batch norms of a model and makes them compute cumulative averages. The destructor restores
/// their momentum and the mode of the model.
class EBB_API FreshStatistics {
 public:
  explicit FreshStatistics(nn::Module& model);
  ~FreshStatistics();
  FreshStatistics(const FreshStatistics&) = delete;
  FreshStatistics& operator=(const FreshStatistics&) = delete;
  /// Returns whether the model has a batch norm.
  bool any() const { return !momenta_.empty(); }

 private:
  nn::Module& model_;
  bool was_training_;
  std::vector<std::pair<optional<double>*, optional<double>>> momenta_;
};

/// Returns the input of a batch: the batch itself, the data of an Example, or the first element of a list or
/// a pair.
inline const Variable& input_of(const Variable& batch) { return batch; }
template <class Batch>
const Variable& input_of(const Batch& batch) {
  if constexpr (requires { batch.data; }) {
    return input_of(batch.data);
  } else if constexpr (requires { batch.first; }) {
    return input_of(batch.first);
  } else {
    return input_of(batch[0]);
  }
}

/// Computes the batch norm statistics of an averaged model with one pass over the data, because averaging
/// does not give valid statistics. The model's mode does not change.
template <class Loader, class Model>
void update_bn(Loader& loader, Model& model, optional<Device> device = nullopt) {
  nn::Module* module = nullptr;
  if constexpr (std::is_base_of_v<nn::Module, Model>)
    module = &model;
  else
    module = &*model;
  const NoGradGuard no_grad;
  const FreshStatistics fresh(*module);
  if (!fresh.any()) return;
  for (auto& batch : loader) {
    const Variable& input = input_of(batch);
    const Variable here = device ? input.to(*device) : input;
    if constexpr (std::is_base_of_v<nn::Module, Model>)
      model.forward(here);
    else
      model->forward(here);
  }
}

/// Anneals the rate of each group to swa_lr in anneal_epochs steps, by a cosine or linearly, and then keeps
/// it at swa_lr. Steps of another scheduler may alternate with the steps of SWALR.
class EBB_API SWALR : public EpochScheduler {
 public:
  enum class Anneal { cos, linear };
  SWALR(Optimizer& optimizer, const PerGroup& swa_lr, std::int64_t anneal_epochs = 10,
        Anneal anneal = Anneal::cos, std::int64_t last_epoch = -1);

 private:
  double next(std::size_t group, double now) override;
  double share(std::int64_t epoch) const;
  std::vector<double> swa_lrs_;
  std::int64_t anneal_epochs_;
  Anneal anneal_;
};

}  // namespace ebb::optim::swa_utils
