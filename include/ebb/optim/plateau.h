// ReduceLROnPlateau: a scheduler that lowers the learning rate when a metric stops improving.
#pragma once

#include <ebb/optim/optimizer.h>

#include <cstdint>

namespace ebb::optim {

/// Multiplies the rates by `factor` if the metric has not improved for `patience` calls of step(), and then
/// waits for `cooldown` calls. min_lrs contains the lower bounds of the rates (one for each group, or none
/// for 0). A change smaller than eps is skipped. A metric improves if it is smaller than the best one (larger
/// with SchedulerMode::max) by the threshold. The threshold is a fraction of the best metric, or with
/// ThresholdMode::abs an absolute amount. (torch::optim::ReduceLROnPlateauScheduler.)
class EBB_API ReduceLROnPlateauScheduler {
 public:
  enum SchedulerMode { min, max };
  enum ThresholdMode { rel, abs };
  explicit ReduceLROnPlateauScheduler(Optimizer& optimizer, SchedulerMode mode = min, double factor = 0.1,
                                      int patience = 10, double threshold = 1e-4,
                                      ThresholdMode threshold_mode = rel, int cooldown = 0,
                                      std::vector<double> min_lrs = {}, double eps = 1e-8);
  /// Reports the metric of the epoch: a loss or an accuracy.
  void step(double metric);
  /// Write the best metric and the counters to an archive, and read them back.
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
/// Python's name of the class.
using ReduceLROnPlateau = ReduceLROnPlateauScheduler;

}  // namespace ebb::optim
