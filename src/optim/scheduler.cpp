// What schedules share, and several of them for one optimizer.
#include <ebb/core/warning.h>
#include <ebb/ops/creation.h>
#include <ebb/optim/scheduler.h>

#include "core/recorder.h"

#include <algorithm>

namespace ebb::optim {

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

EpochScheduler::EpochScheduler(Optimizer& optimizer) : LRScheduler(optimizer) {
  for (OptimizerParamGroup& group : optimizer.param_groups()) bases_.push_back(group.options().initial_lr());
}

double EpochScheduler::base(std::size_t group) const {
  EBB_CHECK(group < bases_.size(), "LRScheduler: the optimizer had ", std::uint64_t{bases_.size()},
            " parameter groups when the schedule was made and has more now. Add them before.");
  return bases_[group];
}

void EpochScheduler::begin() {
  std::vector<double> rates = get_current_lrs();
  for (std::size_t i = 0; i < rates.size(); ++i) rates[i] = next(i, rates[i]);
  set_lrs(rates);
}

std::vector<double> EpochScheduler::get_lrs() {
  ++epoch_;
  std::vector<double> rates = get_current_lrs();
  for (std::size_t i = 0; i < rates.size(); ++i) rates[i] = next(i, rates[i]);
  return rates;
}

void EpochScheduler::restart() {
  epoch_ = 0;
  std::vector<double> rates = get_current_lrs();
  for (std::size_t i = 0; i < rates.size(); ++i) rates[i] = at(i, rates[i]);
  set_lrs(rates);
}

void EpochScheduler::save(serialize::OutputArchive& archive) const {
  archive.write("last_epoch", scalar_tensor(epoch_, TensorOptions(kLong)));
  archive.write("base_lrs", tensor(bases_, TensorOptions(kDouble)));
}

void EpochScheduler::load(serialize::InputArchive& archive) {
  Variable epoch, bases;
  archive.read("last_epoch", epoch);
  archive.read("base_lrs", bases);
  const NdArray rates = bases.to(kDouble).cpu().contiguous().array();
  EBB_CHECK(rates.numel() == static_cast<std::int64_t>(bases_.size()),
            "LRScheduler: the archive has the rates of ", rates.numel(),
            " parameter groups, the optimizer has ", std::uint64_t{bases_.size()}, ".");
  epoch_ = epoch.item<std::int64_t>();
  step_count_ = static_cast<unsigned>(epoch_);
  std::copy(rates.address_as<double>(), rates.address_as<double>() + rates.numel(), bases_.begin());
}

namespace {

void check_all(const char* name, const EpochSchedulers& schedulers) {
  EBB_CHECK(!schedulers.empty(), name, ": expects at least one schedule.");
  for (const auto& each : schedulers) EBB_CHECK(each, name, ": a schedule is null.");
}

// Each in a nested archive named by its position.
void save_all(const EpochSchedulers& schedulers, serialize::OutputArchive& archive) {
  for (std::size_t i = 0; i < schedulers.size(); ++i) {
    serialize::OutputArchive nested;
    schedulers[i]->save(nested);
    archive.write(std::to_string(i), nested);
  }
}
void load_all(const EpochSchedulers& schedulers, serialize::InputArchive& archive) {
  for (std::size_t i = 0; i < schedulers.size(); ++i) {
    serialize::InputArchive nested;
    archive.read(std::to_string(i), nested);
    schedulers[i]->load(nested);
  }
}

}  // namespace

SequentialLR::SequentialLR(Optimizer& optimizer, EpochSchedulers schedulers,
                           std::vector<std::int64_t> milestones)
    : LRScheduler(optimizer), schedulers_(std::move(schedulers)), milestones_(std::move(milestones)) {
  check_all("SequentialLR", schedulers_);
  EBB_CHECK(milestones_.size() + 1 == schedulers_.size(),
            "SequentialLR: expects one milestone less than schedules, got ",
            std::uint64_t{milestones_.size()}, " and ", std::uint64_t{schedulers_.size()}, ".");
  EBB_CHECK(std::is_sorted(milestones_.begin(), milestones_.end()),
            "SequentialLR: the milestones must not decrease.");
  for (const auto& each : schedulers_)
    EBB_CHECK(&each->optimizer() == &optimizer, "SequentialLR: a schedule is of another optimizer.");
  std::vector<double> first;
  for (OptimizerParamGroup& group : optimizer.param_groups()) first.push_back(group.options().initial_lr());
  set_lrs(first);
  schedulers_[0]->epoch_ = 0;
  schedulers_[0]->begin();
}

void SequentialLR::step() {
  begin_step();
  ++epoch_;
  ++step_count_;
  const auto passed = std::upper_bound(milestones_.begin(), milestones_.end(), epoch_) - milestones_.begin();
  const auto at = static_cast<std::size_t>(passed);
  if (at > 0 && milestones_[at - 1] == epoch_)
    schedulers_[at]->restart();
  else
    schedulers_[at]->step();
}

std::vector<double> SequentialLR::get_lrs() { return get_current_lrs(); }

void SequentialLR::save(serialize::OutputArchive& archive) const {
  archive.write("last_epoch", scalar_tensor(epoch_, TensorOptions(kLong)));
  save_all(schedulers_, archive);
}
void SequentialLR::load(serialize::InputArchive& archive) {
  Variable epoch;
  archive.read("last_epoch", epoch);
  load_all(schedulers_, archive);
  epoch_ = epoch.item<std::int64_t>();
}

ChainedScheduler::ChainedScheduler(EpochSchedulers schedulers) : schedulers_(std::move(schedulers)) {
  check_all("ChainedScheduler", schedulers_);
}
void ChainedScheduler::step() {
  for (const auto& each : schedulers_) each->step();
}
void ChainedScheduler::save(serialize::OutputArchive& archive) const { save_all(schedulers_, archive); }
void ChainedScheduler::load(serialize::InputArchive& archive) { load_all(schedulers_, archive); }

}  // namespace ebb::optim
