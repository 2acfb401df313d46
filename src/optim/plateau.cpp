// ReduceLROnPlateauScheduler: lowers the learning rate when a metric stops improving.
#include <ebb/ops/creation.h>
#include <ebb/optim/plateau.h>

#include <algorithm>
#include <limits>

namespace ebb::optim {

ReduceLROnPlateauScheduler::ReduceLROnPlateauScheduler(Optimizer& optimizer, SchedulerMode mode,
                                                       double factor, int patience, double threshold,
                                                       ThresholdMode threshold_mode, int cooldown,
                                                       std::vector<double> min_lrs, double eps)
    : optimizer_(optimizer),
      mode_(mode),
      factor_(factor),
      patience_(patience),
      threshold_(threshold),
      threshold_mode_(threshold_mode),
      cooldown_(cooldown),
      min_lrs_(std::move(min_lrs)),
      eps_(eps),
      best_(mode == min ? std::numeric_limits<double>::infinity()
                        : -std::numeric_limits<double>::infinity()) {
  EBB_CHECK(factor < 1, "ReduceLROnPlateau: the factor must be below 1, got ", factor, ".");
  EBB_CHECK(min_lrs_.empty() || min_lrs_.size() == optimizer.param_groups().size(),
            "ReduceLROnPlateau: expected ", std::uint64_t{optimizer.param_groups().size()},
            " minimum rates, one for each parameter group, got ", std::uint64_t{min_lrs_.size()}, ".");
}

bool ReduceLROnPlateauScheduler::is_better(double metric) const {
  const double by = threshold_mode_ == abs ? threshold_ : threshold_ * best_;
  if (best_ == std::numeric_limits<double>::infinity() || best_ == -std::numeric_limits<double>::infinity())
    return mode_ == min ? metric < best_ : metric > best_;
  return mode_ == min ? metric < best_ - by : metric > best_ + by;
}

void ReduceLROnPlateauScheduler::reduce() {
  std::vector<OptimizerParamGroup>& groups = optimizer_.param_groups();
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const double now = groups[i].options().get_lr();
    const double next = std::max(now * factor_, i < min_lrs_.size() ? min_lrs_[i] : 0.0);
    if (now - next > eps_) groups[i].options().set_lr(next);
  }
}

void ReduceLROnPlateauScheduler::step(double metric) {
  if (is_better(metric)) {
    best_ = metric;
    bad_epochs_ = 0;
  } else {
    ++bad_epochs_;
  }
  if (cooling_ > 0) {
    --cooling_;
    bad_epochs_ = 0;
  }
  if (bad_epochs_ <= patience_) return;
  reduce();
  cooling_ = cooldown_;
  bad_epochs_ = 0;
}

void ReduceLROnPlateauScheduler::save(serialize::OutputArchive& archive) const {
  archive.write("best", scalar_tensor(best_, TensorOptions(kDouble)));
  archive.write("num_bad_epochs", scalar_tensor(bad_epochs_, TensorOptions(kLong)));
  archive.write("cooldown_counter", scalar_tensor(cooling_, TensorOptions(kLong)));
}
void ReduceLROnPlateauScheduler::load(serialize::InputArchive& archive) {
  Variable best, bad, cooling;
  archive.read("best", best);
  archive.read("num_bad_epochs", bad);
  archive.read("cooldown_counter", cooling);
  best_ = best.item<double>();
  bad_epochs_ = bad.item<std::int64_t>();
  cooling_ = cooling.item<std::int64_t>();
}

}  // namespace ebb::optim
