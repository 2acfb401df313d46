// Learning-rate schedules: the base of all, and how several are joined.
#pragma once

#include <ebb/optim/optimizer.h>

#include <cstdint>
#include <memory>

namespace ebb::optim {

/// Sets the learning rates of an optimizer's groups after every epoch (torch::optim::LRScheduler). Derive,
/// and give the rates of the step. The optimizer must outlive it.
class EBB_API LRScheduler {
 public:
  explicit LRScheduler(Optimizer& optimizer);
  virtual ~LRScheduler();
  virtual void step();

 protected:
  /// One rate a group, for the call of step() that step_count_ others came before.
  virtual std::vector<double> get_lrs() = 0;
  std::vector<double> get_current_lrs() const;
  /// The first thing that step() does: warns where the optimizer has made no step yet.
  void begin_step() const;
  /// Throws unless there is one for each group.
  void set_lrs(const std::vector<double>& rates);
  Optimizer& optimizer() const { return optimizer_; }

  unsigned step_count_ = 0;

 private:
  Optimizer& optimizer_;
};

/// A schedule by the number of epochs (or batches: of calls of step()), as torch.optim.lr_scheduler counts
/// them: the constructor sets the rates of epoch 0, each step() those of the next. A rate follows from the
/// one before, so that schedules of one optimizer multiply; SequentialLR, which sets one going in the middle,
/// asks for it from the group's first rate (`initial_lr`, noted when the optimizer's first schedule is made).
class EBB_API EpochScheduler : public LRScheduler {
 public:
  /// Calls of step() so far.
  std::int64_t last_epoch() const { return epoch_; }
  std::vector<double> get_last_lr() const { return get_current_lrs(); }
  /// The epoch and what else the schedule remembers, into an archive, and back. The rates are the
  /// optimizer's.
  virtual void save(serialize::OutputArchive& archive) const;
  virtual void load(serialize::InputArchive& archive);

 protected:
  explicit EpochScheduler(Optimizer& optimizer);
  /// Sets the rates of epoch 0: the last thing that a constructor does.
  void begin();
  /// The group's rate at last_epoch(), which was `now` until then.
  virtual double next(std::size_t group, double now) = 0;
  /// The same where SequentialLR lets the schedule begin: from the first rate, if that is enough.
  virtual double at(std::size_t group, double now) { return next(group, now); }
  /// The group's first rate.
  double base(std::size_t group) const;

 private:
  friend class SequentialLR;
  std::vector<double> get_lrs() final;
  void restart();

  std::vector<double> bases_;
  std::int64_t epoch_ = 0;
};

using EpochSchedulers = std::vector<std::shared_ptr<EpochScheduler>>;

/// One schedule after the other: the i-th + 1 begins at epoch milestones[i]. They are made for the same
/// optimizer before. (torch.optim.lr_scheduler.SequentialLR.)
class EBB_API SequentialLR : public LRScheduler {
 public:
  SequentialLR(Optimizer& optimizer, EpochSchedulers schedulers, std::vector<std::int64_t> milestones);
  void step() override;
  std::int64_t last_epoch() const { return epoch_; }
  std::vector<double> get_last_lr() const { return get_current_lrs(); }
  void save(serialize::OutputArchive& archive) const;
  void load(serialize::InputArchive& archive);

 private:
  std::vector<double> get_lrs() override;
  EpochSchedulers schedulers_;
  std::vector<std::int64_t> milestones_;
  std::int64_t epoch_ = 0;
};

/// Several schedules at once: each changes the rates that the one before has left.
/// (torch.optim.lr_scheduler.ChainedScheduler.)
class EBB_API ChainedScheduler {
 public:
  explicit ChainedScheduler(EpochSchedulers schedulers);
  void step();
  void save(serialize::OutputArchive& archive) const;
  void load(serialize::InputArchive& archive);

 private:
  EpochSchedulers schedulers_;
};

}  // namespace ebb::optim
