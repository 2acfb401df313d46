// Learning-rate schedules.
#pragma once

#include <ebb/optim/optimizer.h>

namespace ebb::optim {

/// Sets the learning rates of an optimizer's groups after every epoch (torch::optim::LRScheduler). Derive,
/// and give the rates of the step. The optimizer must outlive it.
class EBB_API LRScheduler {
 public:
  explicit LRScheduler(Optimizer& optimizer);
  virtual ~LRScheduler();
  void step();

 protected:
  /// One rate a group, for the call of step() that step_count_ others came before.
  virtual std::vector<double> get_lrs() = 0;
  std::vector<double> get_current_lrs() const;

  unsigned step_count_ = 0;

 private:
  Optimizer& optimizer_;
};

/// Multiplies the rates by gamma every step_size calls of step(). The first that does is call step_size + 1,
/// as in libtorch, or call step_size, as in Python: `StepLR(optimizer, 30, 0.1, StepLR::Counting::kPython)`.
class EBB_API StepLR : public LRScheduler {
 public:
  enum class Counting { kLibtorch, kPython };
  StepLR(Optimizer& optimizer, unsigned step_size, double gamma = 0.1,
         Counting counting = Counting::kLibtorch);

 private:
  std::vector<double> get_lrs() override;
  const unsigned step_size_;
  const double gamma_;
  const Counting counting_;
};

}  // namespace ebb::optim
