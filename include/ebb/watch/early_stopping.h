// EarlyStopping: ends a training run whose metric no longer improves, and says which model was the best.
#pragma once

#include <ebb/archive.h>
#include <ebb/core/arg.h>

#include <cstdint>
#include <string>

namespace ebb::watch {

/// Whether the best value of a metric is the least (a loss) or the greatest (an accuracy).
enum class Mode { min, max };

/// Options of EarlyStopping, with Lightning's names.
class EBB_API EarlyStoppingOptions {
 public:
  EBB_ARG(Mode, mode) = Mode::min;
  EBB_ARG(std::int64_t, patience) = 3;  ///< steps without improvement after which it stops; 0: it never stops
  EBB_ARG(double, min_delta) = 0;       ///< an improvement is larger than this
  EBB_ARG(std::int64_t, warmup) = 0;    ///< the first steps, which do not count (Keras: start_from_epoch)
  EBB_ARG(bool, check_finite) = true;   ///< NaN and infinities stop at once; if false, they do not improve
};

/// Stops when a metric has not improved for `patience` steps (Prechelt, 1998; Keras and Lightning:
/// EarlyStopping, and ModelCheckpoint by improved()).
///
///     EarlyStopping stopping(EarlyStoppingOptions().mode(Mode::max).patience(5));
///     run.add("model", model).add("epoch", epoch).add("stopping", stopping).load();
///     for (; epoch < epochs && !stopping.should_stop(); ++epoch) {
///       train(model);
///       stopping.step(validate(model));
///       if (stopping.improved()) ebb::save(model, "best.safetensors");  // or a second Checkpoint
///       run.save();
///     }
///     ebb::load(model, "best.safetensors");
///
/// All processes of a distributed run must give step() the same value.
class EBB_API EarlyStopping {
 public:
  explicit EarlyStopping(const EarlyStoppingOptions& options = {});
  /// Takes the metric of one epoch. Returns should_stop().
  bool step(double value);
  bool should_stop() const { return !reason_.empty(); }
  /// Returns the reason to stop as a sentence; empty if there is none.
  const std::string& reason() const { return reason_; }
  /// Returns whether the last step has the best value.
  bool improved() const { return steps_ > 0 && best_step_ == steps_ - 1; }
  /// Returns the best value; infinity (mode max: -infinity) before the first one.
  double best() const { return best_; }
  /// Returns the step of the best value, from 0 on; -1 before the first one.
  std::int64_t best_step() const { return best_step_; }
  void save(serialize::OutputArchive& archive) const;
  void load(serialize::InputArchive& archive);

 private:
  EarlyStoppingOptions options_;
  double best_;
  std::int64_t best_step_ = -1, waited_ = 0, steps_ = 0;
  std::string reason_;
};

}  // namespace ebb::watch
