// Averages of a model over its training (torch.optim.swa_utils).
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

/// The next average, of the last one, of a model's tensor, and of how many were averaged before.
using AverageFunction =
    std::function<Variable(const Variable& averaged, const Variable& current, const Variable& num_averaged)>;
/// The same of all of a model's tensors; writes the averages in place.
using MultiAverageFunction = std::function<void(
    std::vector<Variable>& averaged, const std::vector<Variable>& current, const Variable& num_averaged)>;

/// averaged + (current - averaged) / (num_averaged + 1): the mean of all (stochastic weight averaging,
/// Izmailov et al. 2018).
EBB_API AverageFunction get_swa_avg_fn();
EBB_API MultiAverageFunction get_swa_multi_avg_fn();
/// decay averaged + (1 - decay) current: an exponential moving average. A decay outside [0, 1] throws.
EBB_API AverageFunction get_ema_avg_fn(double decay = 0.999);
EBB_API MultiAverageFunction get_ema_multi_avg_fn(double decay = 0.999);

/// The base of AveragedModel<Model>, which does not depend on the type of the model.
class EBB_API AveragedModule : public nn::Module {
 public:
  AveragedModule(MultiAverageFunction average, bool use_buffers);
  /// Takes in the model's parameters as they are now: the first ones as they are, later ones by the average.
  /// Buffers too with use_buffers; else they are copied. A model of other shapes is an error.
  void update_parameters(const nn::Module& model);

  Variable n_averaged;  ///< how many models were averaged, kLong []

 protected:
  void adopt(std::shared_ptr<nn::Module> copy);

 private:
  std::vector<Variable> averaged_tensors(const nn::Module& model) const;

  std::shared_ptr<nn::Module> copy_;
  MultiAverageFunction average_;
  bool use_buffers_;
};

/// A copy of a model that holds the average of what the model was at each update_parameters():
///
///     swa_utils::AveragedModel ema(model, swa_utils::get_ema_multi_avg_fn(0.999));
///     for (...) { optimizer.step(); ema.update_parameters(*model); }
///     swa_utils::update_bn(*loader, ema);
///     ema.forward(x);
///
/// Its state_dict has "n_averaged" and, behind "module.", the names of the model: save and load work as of
/// any module. The copy is on the model's device.
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
  /// Averages one tensor at a time.
  AveragedModel(const std::shared_ptr<Model>& model, AverageFunction average, bool use_buffers = false)
      : AveragedModel(model, each(std::move(average)), use_buffers) {}
  AveragedModel(const nn::ModuleHolder<Model>& model, AverageFunction average, bool use_buffers = false)
      : AveragedModel(model.ptr(), each(std::move(average)), use_buffers) {}

  /// The averaged model's forward.
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

/// Lets the batch norms in a model count anew: resets them, takes plain means, and puts all of it back when
/// it goes.
class EBB_API FreshStatistics {
 public:
  explicit FreshStatistics(nn::Module& model);
  ~FreshStatistics();
  FreshStatistics(const FreshStatistics&) = delete;
  FreshStatistics& operator=(const FreshStatistics&) = delete;
  /// Whether there is a batch norm at all.
  bool any() const { return !momenta_.empty(); }

 private:
  nn::Module& model_;
  bool was_training_;
  std::vector<std::pair<optional<double>*, optional<double>>> momenta_;
};

/// The input in a batch: itself, the data of an Example, the first of a list or a pair.
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

/// One pass over the data, to give the batch norms of an averaged model, whose statistics no data has seen,
/// means and variances of their own. The model is left in the mode that it was in.
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

/// From the rate of a group to swa_lr in anneal_epochs steps, along a half wave or a line, and stays there.
/// It may be stepped in turn with another schedule.
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
