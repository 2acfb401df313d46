// Learning-rate schedules: LRScheduler, their base, and SequentialLR and ChainedScheduler, which join
// several.
#pragma once

#include <ebb/optim/optimizer.h>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

namespace ebb::optim {

/// A number for all parameter groups, or one for each.
class EBB_API PerGroup {
 public:
  PerGroup(double all) : numbers_{all} {}
  PerGroup(std::vector<double> each) : numbers_(std::move(each)), is_list_(true) {}
  PerGroup(std::initializer_list<double> each) : PerGroup(std::vector<double>(each)) {}
  /// One for each group; throws in the name of the schedule when a list has another length. `what` names it.
  std::vector<double> of(const char* schedule, const char* what, Optimizer& optimizer) const;

 private:
  std::vector<double> numbers_;
  bool is_list_ = false;
};

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
/// them: the constructor sets the rates of epoch `last_epoch` + 1, which is 0 unless training is resumed,
/// each step() those of the next. A rate follows from the one before, so that schedules of one optimizer
/// multiply; SequentialLR, which sets one going in the middle, asks for it from the group's first rate
/// (`initial_lr`, noted when the optimizer's first schedule is made).
class EBB_API EpochScheduler : public LRScheduler {
 public:
  void step() override;
  /// The epoch whose rates were set last.
  std::int64_t last_epoch() const { return epoch_; }
  std::vector<double> get_last_lr() const { return get_current_lrs(); }
  /// The epoch and what else the schedule remembers, into an archive, and back. The rates are the
  /// optimizer's.
  virtual void save(serialize::OutputArchive& archive) const;
  virtual void load(serialize::InputArchive& archive);

 protected:
  explicit EpochScheduler(Optimizer& optimizer, std::int64_t last_epoch = -1);
  /// Sets the first rates: the last thing that a constructor does.
  void begin();
  /// Whether the rates asked for are the first.
  bool is_first() const { return first_; }
  /// The group's rate at last_epoch(), which was `now` until then.
  virtual double next(std::size_t group, double now) = 0;
  /// The same where SequentialLR lets the schedule begin: from the first rate, if that is enough.
  virtual double at(std::size_t group, double now) { return next(group, now); }
  /// The group's first rate; and sets it, for later schedules too.
  double base(std::size_t group) const;
  void set_base(std::size_t group, double rate);

 private:
  friend class JoinedScheduler;
  friend class SequentialLR;
  friend class ChainedScheduler;
  std::vector<double> get_lrs() override;
  /// On to the next epoch; back to the beginning, in the middle of a sequence; an epoch back, before the
  /// first one, without a change of rates.
  virtual void advance();
  virtual void restart();
  virtual void undo() { --epoch_; }
  virtual void rewind() { epoch_ = -1; }

  std::vector<double> bases_;
  std::int64_t epoch_;
  bool first_ = false;
};
using EpochSchedulers = std::vector<std::shared_ptr<EpochScheduler>>;

/// A schedule that is made of others of the same optimizer, which are made before, and may be joined itself.
class EBB_API JoinedScheduler : public EpochScheduler {
 public:
  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;

 protected:
  JoinedScheduler(const char* name, Optimizer& optimizer, EpochSchedulers schedulers);
  /// That of the first schedule.
  static Optimizer& optimizer_of(const char* name, const EpochSchedulers& schedulers);
  void undo() override;
  EpochSchedulers schedulers_;

 private:
  double next(std::size_t, double now) override { return now; }
  std::vector<double> get_lrs() override { return get_current_lrs(); }
  void rewind() override;
};

/// One schedule after the other: the i-th + 1 begins at epoch milestones[i].
/// (torch.optim.lr_scheduler.SequentialLR. A joined schedule that is not the first begins like any other,
/// where PyTorch throws.)
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

/// Several schedules at once: each changes the rates that the one before has left.
/// (torch.optim.lr_scheduler.ChainedScheduler.)
class EBB_API ChainedScheduler : public JoinedScheduler {
 public:
  explicit ChainedScheduler(EpochSchedulers schedulers);

 private:
  void advance() override;
  void restart() override;
};

}  // namespace ebb::optim
