// One cycle, and cycles without end.
#include <ebb/optim/cycles.h>

#include <cmath>
#include <numbers>

namespace ebb::optim {

namespace {

void check_momentum(const char* name, Optimizer& optimizer) {
  for (OptimizerParamGroup& group : optimizer.param_groups())
    EBB_CHECK(group.options().get_momentum(), name,
              ": the optimizer has neither momentum nor betas. Ask for cycle_momentum(false).");
}

}  // namespace

OneCycleLR::OneCycleLR(Optimizer& optimizer, double max_lr, std::int64_t total_steps,
                       OneCycleLROptions options)
    : OneCycleLR(optimizer, std::vector<double>(optimizer.param_groups().size(), max_lr), total_steps,
                 std::move(options)) {}

OneCycleLR::OneCycleLR(Optimizer& optimizer, std::vector<double> max_lrs, std::int64_t total_steps,
                       OneCycleLROptions options)
    : EpochScheduler(optimizer),
      max_lrs_(std::move(max_lrs)),
      total_(total_steps),
      options_(std::move(options)) {
  EBB_CHECK(total_ > 0, "OneCycleLR: total_steps must be positive, got ", total_, ".");
  EBB_CHECK(options_.pct_start() >= 0 && options_.pct_start() <= 1,
            "OneCycleLR: pct_start must be between 0 and 1, got ", options_.pct_start(), ".");
  EBB_CHECK(max_lrs_.size() == optimizer.param_groups().size(), "OneCycleLR: expected ",
            std::uint64_t{optimizer.param_groups().size()}, " rates, one for each parameter group, got ",
            std::uint64_t{max_lrs_.size()}, ".");
  if (options_.cycle_momentum()) check_momentum("OneCycleLR", optimizer);
  const double total = static_cast<double>(total_), rise = options_.pct_start() * total;
  const double top = options_.div_factor(), last = 1 / options_.final_div_factor();
  const double low = options_.base_momentum(), high = options_.max_momentum();
  phases_ = {{rise - 1, 1, top, high, low}};
  if (options_.three_phase()) {
    phases_.push_back({2 * rise - 2, top, 1, low, high});
    phases_.push_back({total - 1, 1, last, high, high});
  } else {
    phases_.push_back({total - 1, top, last, low, high});
  }
  begin();
}

double OneCycleLR::next(std::size_t group, double) {
  EBB_CHECK(last_epoch() < total_ + 1, "OneCycleLR: step() was called ", last_epoch(),
            " times; the cycle has ", total_, " steps.");
  const auto step = static_cast<double>(last_epoch());
  std::size_t at = 0;
  while (at + 1 < phases_.size() && step > phases_[at].end) ++at;
  const Phase& phase = phases_[at];
  const double begin = at == 0 ? 0 : phases_[at - 1].end, share = (step - begin) / (phase.end - begin);
  const auto between = [&](double from, double to) {
    if (options_.anneal() == OneCycleLROptions::Anneal::linear) return from + (to - from) * share;
    return to + (from - to) / 2 * (std::cos(std::numbers::pi * share) + 1);
  };
  if (options_.cycle_momentum())
    optimizer().param_groups()[group].options().set_momentum(between(phase.momentum_from, phase.momentum_to));
  const double first = max_lrs_[group] / options_.div_factor();
  return between(first * phase.from, first * phase.to);
}

CyclicLR::CyclicLR(Optimizer& optimizer, double base_lr, double max_lr, CyclicLROptions options)
    : EpochScheduler(optimizer), low_(base_lr), high_(max_lr), options_(std::move(options)) {
  if (options_.step_size_down() == 0) options_.step_size_down(options_.step_size_up());
  EBB_CHECK(options_.step_size_up() > 0 && options_.step_size_down() > 0,
            "CyclicLR: step_size_up and step_size_down must be positive, got ", options_.step_size_up(),
            " and ", options_.step_size_down(), ".");
  if (options_.cycle_momentum()) check_momentum("CyclicLR", optimizer);
  begin();
}

double CyclicLR::height(double cycle) const {
  const auto step = static_cast<double>(last_epoch());
  if (options_.scale_fn()) return options_.scale_fn()(options_.scale_by_cycle() ? cycle : step);
  switch (options_.mode()) {
    case CyclicLROptions::Mode::triangular2:
      return 1 / std::pow(2, cycle - 1);
    case CyclicLROptions::Mode::exp_range:
      return std::pow(options_.gamma(), step);
    default:
      return 1;
  }
}

double CyclicLR::next(std::size_t group, double) {
  const auto up = static_cast<double>(options_.step_size_up());
  const double total = up + static_cast<double>(options_.step_size_down()), rise = up / total;
  const double turns = 1 + static_cast<double>(last_epoch()) / total, cycle = std::floor(turns),
               x = turns - cycle;
  const double share = (x <= rise ? x / rise : (x - 1) / (rise - 1)) * height(cycle);
  if (options_.cycle_momentum())
    optimizer().param_groups()[group].options().set_momentum(
        options_.max_momentum() - (options_.max_momentum() - options_.base_momentum()) * share);
  return low_ + (high_ - low_) * share;
}

}  // namespace ebb::optim
