// Learning-rate schedules.
#include <ebb/optim/scheduler.h>

namespace ebb::optim {

LRScheduler::LRScheduler(Optimizer& optimizer) : optimizer_(optimizer) {}
LRScheduler::~LRScheduler() = default;

void LRScheduler::step() {
  const std::vector<double> rates = get_lrs();
  std::vector<OptimizerParamGroup>& groups = optimizer_.param_groups();
  EBB_CHECK(rates.size() == groups.size(), "LRScheduler: get_lrs() gave ", std::uint64_t{rates.size()},
            " learning rates for ", std::uint64_t{groups.size()},
            " parameter groups. It must give one for each.");
  for (std::size_t i = 0; i < groups.size(); ++i) groups[i].options().set_lr(rates[i]);
  ++step_count_;
}

std::vector<double> LRScheduler::get_current_lrs() const {
  std::vector<double> rates;
  for (OptimizerParamGroup& group : optimizer_.param_groups()) rates.push_back(group.options().get_lr());
  return rates;
}

StepLR::StepLR(Optimizer& optimizer, unsigned step_size, double gamma, Counting counting)
    : LRScheduler(optimizer), step_size_(step_size), gamma_(gamma), counting_(counting) {
  EBB_CHECK(step_size > 0, "StepLR: step_size must be positive.");
}

std::vector<double> StepLR::get_lrs() {
  std::vector<double> rates = get_current_lrs();
  const unsigned count = counting_ == Counting::kPython ? step_count_ + 1 : step_count_;
  if (count != 0 && count % step_size_ == 0)
    for (double& rate : rates) rate *= gamma_;
  return rates;
}

}  // namespace ebb::optim
