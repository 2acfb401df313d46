// LRScheduler, EpochScheduler, SequentialLR and ChainedScheduler.
#include <ebb/core/warning.h>
#include <ebb/ops/creation.h>
#include <ebb/optim/scheduler.h>

#include "core/recorder.h"

#include <algorithm>

namespace ebb::optim {

std::vector<double> PerGroup::of(const char* schedule, const char* what, Optimizer& optimizer) const {
  const std::size_t groups = optimizer.param_groups().size();
  if (!is_list_) return std::vector<double>(groups, numbers_[0]);
  EBB_CHECK(numbers_.size() == groups, schedule, ": expected ", std::uint64_t{groups}, " numbers of ", what,
            ", one for each parameter group, got ", std::uint64_t{numbers_.size()}, ".");
  return numbers_;
}

LRScheduler::LRScheduler(Optimizer& optimizer) : optimizer_(optimizer) {}
LRScheduler::~LRScheduler() = default;

void LRScheduler::begin_step() const {
  if (step_count_ == 0 && optimizer_.stepped_ && !*optimizer_.stepped_)
    warn(
        "LRScheduler: step() is called before the optimizer's step(), so that the first rate of the schedule "
        "is "
        "never used. Call optimizer.step() first.");
}

void LRScheduler::step() {
  begin_step();
  set_lrs(get_lrs());
  ++step_count_;
}

void LRScheduler::set_lrs(const std::vector<double>& rates) {
  ebb::detail::not_replayed("a schedule sets learning rates; call its step() outside");
  std::vector<OptimizerParamGroup>& groups = optimizer_.param_groups();
  EBB_CHECK(rates.size() == groups.size(), "LRScheduler: get_lrs() gave ", std::uint64_t{rates.size()},
            " learning rates for ", std::uint64_t{groups.size()},
            " parameter groups. It must give one for each.");
  for (std::size_t i = 0; i < groups.size(); ++i) groups[i].options().set_lr(rates[i]);
}

std::vector<double> LRScheduler::get_current_lrs() const {
  std::vector<double> rates;
  for (OptimizerParamGroup& group : optimizer_.param_groups()) rates.push_back(group.options().get_lr());
  return rates;
}

EpochScheduler::EpochScheduler(Optimizer& optimizer, std::int64_t last_epoch)
    : LRScheduler(optimizer), epoch_(last_epoch) {
  EBB_CHECK(last_epoch >= -1, "LRScheduler: last_epoch must be -1 or the epoch to continue from, got ",
            last_epoch, ".");
  for (OptimizerParamGroup& group : optimizer.param_groups()) bases_.push_back(group.options().initial_lr());
}

double EpochScheduler::base(std::size_t group) const {
  EBB_CHECK(group < bases_.size(), "LRScheduler: the optimizer had ", std::uint64_t{bases_.size()},
            " parameter groups when the schedule was constructed and has more now. Add groups before you "
            "construct the schedule.");
  return bases_[group];
}

void EpochScheduler::set_base(std::size_t group, double rate) {
  bases_.at(group) = rate;
  optimizer().param_groups().at(group).options().set_initial_lr(rate);
}

void EpochScheduler::begin() {
  step_count_ = 0;
  first_ = true;
  advance();
  first_ = false;
}

void EpochScheduler::step() {
  begin_step();
  advance();
}

std::vector<double> EpochScheduler::get_lrs() {
  std::vector<double> rates = get_current_lrs();
  for (std::size_t i = 0; i < rates.size(); ++i) rates[i] = next(i, rates[i]);
  return rates;
}

void EpochScheduler::advance() {
  ++epoch_;
  if (!first_) ++step_count_;
  set_lrs(get_lrs());
}

void EpochScheduler::restart() {
  epoch_ = 0;
  std::vector<double> rates = get_current_lrs();
  for (std::size_t i = 0; i < rates.size(); ++i) rates[i] = at(i, rates[i]);
  set_lrs(rates);
}

void EpochScheduler::save(serialize::OutputArchive& archive) const {
  archive.write("last_epoch", scalar_tensor(epoch_, TensorOptions(kLong)));
  archive.write("step_count", scalar_tensor(std::int64_t{step_count_}, TensorOptions(kLong)));
  archive.write("base_lrs", tensor(bases_, TensorOptions(kDouble)));
}

void EpochScheduler::load(serialize::InputArchive& archive) {
  Variable epoch, count, bases;
  archive.read("last_epoch", epoch);
  archive.read("base_lrs", bases);
  const NdArray rates = bases.to(kDouble).cpu().contiguous().array();
  EBB_CHECK(rates.numel() == static_cast<std::int64_t>(bases_.size()),
            "LRScheduler: the archive has the rates of ", rates.numel(),
            " parameter groups, but the optimizer has ", std::uint64_t{bases_.size()}, ".");
  epoch_ = epoch.item<std::int64_t>();
  // Older files have no step_count.
  step_count_ =
      static_cast<unsigned>(archive.try_read("step_count", count) ? count.item<std::int64_t>() : epoch_);
  std::copy(rates.address_as<double>(), rates.address_as<double>() + rates.numel(), bases_.begin());
}

JoinedScheduler::JoinedScheduler(const char* name, Optimizer& optimizer, EpochSchedulers schedulers)
    : EpochScheduler(optimizer), schedulers_(std::move(schedulers)) {
  EBB_CHECK(!schedulers_.empty(), name, ": expects at least one schedule.");
  for (std::size_t i = 0; i < schedulers_.size(); ++i) {
    EBB_CHECK(schedulers_[i], name, ": a schedule is null.");
    EBB_CHECK(&schedulers_[i]->optimizer() == &optimizer, name,
              ": all schedules must have the same optimizer, but schedule ", std::uint64_t{i},
              " has another.");
  }
}

Optimizer& JoinedScheduler::optimizer_of(const char* name, const EpochSchedulers& schedulers) {
  EBB_CHECK(!schedulers.empty() && schedulers[0], name, ": expects at least one schedule.");
  return schedulers[0]->optimizer();
}

void JoinedScheduler::undo() {
  for (const auto& each : schedulers_) each->undo();
}
void JoinedScheduler::rewind() {
  EpochScheduler::rewind();
  for (const auto& each : schedulers_) each->rewind();
}

// Writes each schedule to a nested archive, whose name is the index of the schedule.
void JoinedScheduler::save(serialize::OutputArchive& archive) const {
  archive.write("last_epoch", scalar_tensor(last_epoch(), TensorOptions(kLong)));
  for (std::size_t i = 0; i < schedulers_.size(); ++i) {
    serialize::OutputArchive nested;
    schedulers_[i]->save(nested);
    archive.write(std::to_string(i), nested);
  }
}
void JoinedScheduler::load(serialize::InputArchive& archive) {
  for (std::size_t i = 0; i < schedulers_.size(); ++i) {
    serialize::InputArchive nested;
    archive.read(std::to_string(i), nested);
    schedulers_[i]->load(nested);
  }
  Variable epoch;
  if (archive.try_read("last_epoch", epoch)) epoch_ = epoch.item<std::int64_t>();
}

SequentialLR::SequentialLR(Optimizer& optimizer, EpochSchedulers schedulers,
                           std::vector<std::int64_t> milestones, std::int64_t last_epoch)
    : JoinedScheduler("SequentialLR", optimizer, std::move(schedulers)), milestones_(std::move(milestones)) {
  EBB_CHECK(milestones_.size() + 1 == schedulers_.size(),
            "SequentialLR: expects one milestone less than schedules, got ",
            std::uint64_t{milestones_.size()}, " and ", std::uint64_t{schedulers_.size()}, ".");
  EBB_CHECK(std::is_sorted(milestones_.begin(), milestones_.end()),
            "SequentialLR: the milestones must not decrease.");
  std::vector<double> first;
  for (OptimizerParamGroup& group : optimizer.param_groups()) first.push_back(group.options().initial_lr());
  set_lrs(first);
  undo();
  epoch_ = 0;
  schedulers_[running()]->begin();
  epoch_ = last_epoch + 1;
}

// Returns the index of the current epoch's schedule.
std::size_t SequentialLR::running() const {
  return static_cast<std::size_t>(std::upper_bound(milestones_.begin(), milestones_.end(), epoch_) -
                                  milestones_.begin());
}

void SequentialLR::advance() {
  ++epoch_;
  const std::size_t at = running();
  if (at > 0 && milestones_[at - 1] == epoch_)
    schedulers_[at]->restart();
  else
    schedulers_[at]->advance();
  if (!first_) ++step_count_;
}

void SequentialLR::restart() {
  epoch_ = 0;
  schedulers_[running()]->restart();
}

ChainedScheduler::ChainedScheduler(EpochSchedulers schedulers)
    : JoinedScheduler("ChainedScheduler", optimizer_of("ChainedScheduler", schedulers), schedulers) {
  epoch_ = 0;
}

void ChainedScheduler::advance() {
  ++epoch_;
  for (const auto& each : schedulers_) each->advance();
  if (!first_) ++step_count_;
}

void ChainedScheduler::restart() {
  std::vector<double> first;
  for (std::size_t i = 0; i < optimizer().param_groups().size(); ++i) first.push_back(base(i));
  set_lrs(first);
  for (const auto& each : schedulers_) {
    each->rewind();
    each->begin();
  }
  epoch_ = 0;
}

}  // namespace ebb::optim
