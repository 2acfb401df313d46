// LRScheduler, the base of learning-rate schedulers, and SequentialLR and ChainedScheduler, which combine
// several.
#pragma once

#include <ebb/optim/optimizer.h>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

namespace ebb::optim {

/// One value for all parameter groups, or one value for each group.
class EBB_API PerGroup {
 public:
  PerGroup(double all) : numbers_{all} {}
  PerGroup(std::vector<double> each) : numbers_(std::move(each)), is_list_(true) {}
  PerGroup(std::initializer_list<double> each) : PerGroup(std::vector<double>(each)) {}
  /// Returns one value for each group. Throws if a list was given whose length differs from the number of
  /// groups; the error names `schedule` and `what`.
  std::vector<double> of(const char* schedule, const char* what, Optimizer& optimizer) const;

 private:
  std::vector<double> numbers_;
  bool is_list_ = false;
};

/// Sets the learning rates of an optimizer's groups after each epoch (torch::optim::LRScheduler). Derive from
/// it and define get_lrs(). The optimizer must outlive it.
class EBB_API LRScheduler {
 public:
  explicit LRScheduler(Optimizer& optimizer);
  virtual ~LRScheduler();
  virtual void step();

 protected:
  /// Returns one rate for each group. step() calls it; step_count_ is the number of earlier calls of step().
  virtual std::vector<double> get_lrs() = 0;
  std::vector<double> get_current_lrs() const;
  /// Warns if the optimizer has made no step yet. step() calls it first.
  void begin_step() const;
  /// Sets the rate of each group. Throws unless `rates` has one rate for each group.
  void set_lrs(const std::vector<double>& rates);
  Optimizer& optimizer() const { return optimizer_; }

  unsigned step_count_ = 0;

 private:
  Optimizer& optimizer_;
};

/// A scheduler that counts epochs (or batches: calls of step()) like torch.optim.lr_scheduler. The
/// constructor sets the rates of epoch `last_epoch` + 1, which is 0 unless training resumes. Each step() sets
/// the rates of the next epoch. Each rate is computed from the current rate, so that the factors of several
/// schedulers of an optimizer multiply. When SequentialLR starts a scheduler in the middle of training, the
/// rate is computed from the group's first rate, `initial_lr`. The optimizer's first scheduler stores it.
class EBB_API EpochScheduler : public LRScheduler {
 public:
  void step() override;
  /// Returns the epoch whose rates were set last.
  std::int64_t last_epoch() const { return epoch_; }
  std::vector<double> get_last_lr() const { return get_current_lrs(); }
  /// Write the epoch and other state of the scheduler to an archive, and read them back. The rates are saved
  /// with the optimizer.
  virtual void save(serialize::OutputArchive& archive) const;
  virtual void load(serialize::InputArchive& archive);

 protected:
  explicit EpochScheduler(Optimizer& optimizer, std::int64_t last_epoch = -1);
  /// Sets the first rates. A constructor calls it last.
  void begin();
  /// Returns whether the first rates are being computed.
  bool is_first() const { return first_; }
  /// Returns the group's rate at last_epoch(); `now` is its current rate.
  virtual double next(std::size_t group, double now) = 0;
  /// Returns the rate of a group when SequentialLR starts this scheduler. Schedulers whose formula needs only
  /// the group's first rate override it and do not use `now`, the current rate.
  virtual double at(std::size_t group, double now) { return next(group, now); }
  /// Get and set the group's first rate. Setting it affects later schedulers too.
  double base(std::size_t group) const;
  void set_base(std::size_t group, double rate);

 private:
  friend class JoinedScheduler;
  friend class SequentialLR;
  friend class ChainedScheduler;
  std::vector<double> get_lrs() override;
  /// advance() moves to the next epoch. restart() begins again, in the middle of a sequence. undo() moves
  /// back one epoch. rewind() moves back to before the first epoch. Neither undo() nor rewind() changes
  /// rates.
  virtual void advance();
  virtual void restart();
  virtual void undo() { --epoch_; }
  virtual void rewind() { epoch_ = -1; }

  std::vector<double> bases_;
  std::int64_t epoch_;
  bool first_ = false;
};
using EpochSchedulers = std::vector<std::shared_ptr<EpochScheduler>>;

/// A scheduler composed of existing schedulers of the same optimizer. It may be part of another
/// JoinedScheduler.
class EBB_API JoinedScheduler : public EpochScheduler {
 public:
  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;

 protected:
  JoinedScheduler(const char* name, Optimizer& optimizer, EpochSchedulers schedulers);
  /// Returns the optimizer of the first scheduler.
  static Optimizer& optimizer_of(const char* name, const EpochSchedulers& schedulers);
  void undo() override;
  EpochSchedulers schedulers_;

 private:
  double next(std::size_t, double now) override { return now; }
  std::vector<double> get_lrs() override { return get_current_lrs(); }
  void rewind() override;
};

/// Runs schedulers one after another: scheduler i + 1 begins at epoch milestones[i].
/// (torch.optim.lr_scheduler.SequentialLR. A composed scheduler may also be at a later position, where
/// PyTorch throws.)
class EBB_API SequentialLR : public JoinedScheduler {
 public:
  SequentialLR(Optimizer& optimizer, EpochSchedulers schedulers, std::vector<std::int64_t> milestones,
               std::int64_t last_epoch = -1);

 private:
  std::size_t running() const;
  void advance() override;
  void restart() override;
  std::vector<std::int64_t> milestones_;
};

/// Runs several schedulers in each step: each changes the rates that the previous one has set.
/// (torch.optim.lr_scheduler.ChainedScheduler.)
class EBB_API ChainedScheduler : public JoinedScheduler {
 public:
  explicit ChainedScheduler(EpochSchedulers schedulers);

 private:
  void advance() override;
  void restart() override;
};

}  // namespace ebb::optim
