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
  /// One rate a group, for step_count_.
  virtual std::vector<double> get_lrs() = 0;
  std::vector<double> get_current_lrs() const;

  unsigned step_count_ = 0;

 private:
  Optimizer& optimizer_;
};

/// Multiplies the rates by gamma every step_size steps.
class EBB_API StepLR : public LRScheduler {
 public:
  StepLR(Optimizer& optimizer, unsigned step_size, double gamma = 0.1);

 private:
  std::vector<double> get_lrs() override;
  const unsigned step_size_;
  const double gamma_;
};

}  // namespace ebb::optim
