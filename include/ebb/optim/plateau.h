// ReduceLROnPlateau: a schedule that lowers the learning rate when a metric stops improving.
#pragma once

#include <ebb/optim/optimizer.h>

#include <cstdint>

namespace ebb::optim {

/// Multiplies the rates by `factor` when the metric has not improved for `patience` calls of step(), down to
/// min_lrs (one a group, or none for 0), unless that changes them by less than eps; then waits `cooldown`
/// calls. Better is less (or with SchedulerMode::max more) than the best by the threshold: a share of the
/// best, or with ThresholdMode::abs an amount. (torch::optim::ReduceLROnPlateauScheduler.)
class EBB_API ReduceLROnPlateauScheduler {
 public:
  enum SchedulerMode { min, max };
  enum ThresholdMode { rel, abs };
  explicit ReduceLROnPlateauScheduler(Optimizer& optimizer, SchedulerMode mode = min, double factor = 0.1,
                                      int patience = 10, double threshold = 1e-4,
                                      ThresholdMode threshold_mode = rel, int cooldown = 0,
                                      std::vector<double> min_lrs = {}, double eps = 1e-8);
  /// Takes the metric of the epoch: a loss, or an accuracy.
  void step(double metric);
  /// Writes the best metric and the counters into an archive, and reads them back.
  void save(serialize::OutputArchive& archive) const;
  void load(serialize::InputArchive& archive);

 private:
  bool is_better(double metric) const;
  void reduce();

  Optimizer& optimizer_;
  SchedulerMode mode_;
  double factor_;
  std::int64_t patience_;
  double threshold_;
  ThresholdMode threshold_mode_;
  std::int64_t cooldown_;
  std::vector<double> min_lrs_;
  double eps_;
  double best_;
  std::int64_t bad_epochs_ = 0, cooling_ = 0;
};
/// Python's name.
using ReduceLROnPlateau = ReduceLROnPlateauScheduler;

}  // namespace ebb::optim
