// OneCycleLR and CyclicLR.
#include <ebb/optim/cycles.h>

#include <cmath>
#include <numbers>

namespace ebb::optim {

namespace {

void check_momentum(const char* name, Optimizer& optimizer) {
  for (OptimizerParamGroup& group : optimizer.param_groups())
    EBB_CHECK(group.options().get_momentum(), name,
              ": the optimizer has neither momentum nor betas. Set cycle_momentum(false).");
}

// Sets the initial rates of a CyclicLR and returns the optimizer. This happens before the base class reads
// the groups' initial rates.
Optimizer& beginning(Optimizer& optimizer, const PerGroup& base_lr, std::int64_t last_epoch) {
  if (last_epoch != -1) return optimizer;
  const std::vector<double> rates = base_lr.of("CyclicLR", "base_lr", optimizer);
  for (std::size_t i = 0; i < rates.size(); ++i) optimizer.param_groups()[i].options().set_lr(rates[i]);
  return optimizer;
}

}  // namespace

OneCycleLR::OneCycleLR(Optimizer& optimizer, const PerGroup& max_lr, std::int64_t total_steps,
                       OneCycleLROptions options, std::int64_t last_epoch)
    : EpochScheduler(optimizer, last_epoch),
      max_lrs_(max_lr.of("OneCycleLR", "max_lr", optimizer)),
      low_(options.base_momentum().of("OneCycleLR", "base_momentum", optimizer)),
      high_(options.max_momentum().of("OneCycleLR", "max_momentum", optimizer)),
      total_(total_steps),
      options_(std::move(options)) {
  EBB_CHECK(total_ > 0, "OneCycleLR: total_steps must be positive, got ", total_, ".");
  EBB_CHECK(options_.pct_start() >= 0 && options_.pct_start() <= 1,
            "OneCycleLR: pct_start must be between 0 and 1, got ", options_.pct_start(), ".");
  if (options_.cycle_momentum()) check_momentum("OneCycleLR", optimizer);
  const double total = static_cast<double>(total_), rise = options_.pct_start() * total;
  const double top = options_.div_factor(), last = 1 / options_.final_div_factor();
  constexpr bool low = false, high = true;
  phases_ = {{rise - 1, 1, top, high, low}};
  if (options_.three_phase()) {
    phases_.push_back({2 * rise - 2, top, 1, low, high});
    phases_.push_back({total - 1, 1, last, high, high});
  } else {
    phases_.push_back({total - 1, top, last, low, high});
  }
  if (last_epoch == -1)
    for (std::size_t i = 0; i < max_lrs_.size(); ++i) set_base(i, max_lrs_[i] / options_.div_factor());
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
  const auto momentum = [&](bool largest) { return (largest ? high_ : low_)[group]; };
  if (options_.cycle_momentum())
    optimizer().param_groups()[group].options().set_momentum(
        between(momentum(phase.from_momentum), momentum(phase.to_momentum)));
  const double first = max_lrs_[group] / options_.div_factor();
  return between(first * phase.from, first * phase.to);
}

CyclicLR::CyclicLR(Optimizer& optimizer, const PerGroup& base_lr, const PerGroup& max_lr,
                   CyclicLROptions options, std::int64_t last_epoch)
    : EpochScheduler(beginning(optimizer, base_lr, last_epoch), last_epoch), options_(std::move(options)) {
  if (options_.step_size_down() == 0) options_.step_size_down(options_.step_size_up());
  EBB_CHECK(options_.step_size_up() > 0 && options_.step_size_down() > 0,
            "CyclicLR: step_size_up and step_size_down must be positive, got ", options_.step_size_up(),
            " and ", options_.step_size_down(), ".");
  if (options_.cycle_momentum()) check_momentum("CyclicLR", optimizer);
  momenta_ = {options_.base_momentum().of("CyclicLR", "base_momentum", optimizer),
              options_.max_momentum().of("CyclicLR", "max_momentum", optimizer)};
  // The first step uses the group's initial rate. It is base_lr, unless another schedule was constructed
  // before.
  rates_.high = max_lr.of("CyclicLR", "max_lr", optimizer);
  for (std::size_t i = 0; i < rates_.high.size(); ++i) rates_.low.push_back(base(i));
  begin();
  rates_.low = base_lr.of("CyclicLR", "base_lr", optimizer);
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
  const auto between = [&](double from, double to) { return from + (to - from) * share; };
  if (options_.cycle_momentum())
    optimizer().param_groups()[group].options().set_momentum(
        between(momenta_.high[group], momenta_.low[group]));
  return between(rates_.low[group], rates_.high[group]);
}

}  // namespace ebb::optim
