// Learning-rate schedules with a formula of the epoch: StepLR, MultiStepLR, ConstantLR, LinearLR,
// ExponentialLR, PolynomialLR, CosineAnnealingLR, CosineAnnealingWarmRestarts, LambdaLR, MultiplicativeLR,
// OneCycleLR and CyclicLR.
#include <ebb/optim/cycles.h>
#include <ebb/optim/schedules.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace ebb::optim {

namespace {
double wave(std::int64_t epoch, std::int64_t half) {
  return 1 + std::cos(std::numbers::pi * static_cast<double>(epoch) / static_cast<double>(half));
}
}  // namespace

StepLR::StepLR(Optimizer& optimizer, unsigned step_size, double gamma, Counting counting,
               std::int64_t last_epoch)
    : EpochScheduler(optimizer, last_epoch), step_size_(step_size), gamma_(gamma), counting_(counting) {
  EBB_CHECK(step_size > 0, "StepLR: step_size must be positive, got 0.");
  begin();
}
std::int64_t StepLR::count() const {
  return counting_ == Counting::kPython ? last_epoch() : last_epoch() - 1;
}
double StepLR::next(std::size_t, double now) {
  return count() > 0 && count() % step_size_ == 0 ? now * gamma_ : now;
}
double StepLR::at(std::size_t group, double) {
  return base(group) * std::pow(gamma_, static_cast<double>(std::max<std::int64_t>(count(), 0) / step_size_));
}

MultiStepLR::MultiStepLR(Optimizer& optimizer, std::vector<std::int64_t> milestones, double gamma,
                         std::int64_t last_epoch)
    : EpochScheduler(optimizer, last_epoch), milestones_(std::move(milestones)), gamma_(gamma) {
  std::sort(milestones_.begin(), milestones_.end());
  begin();
}
double MultiStepLR::next(std::size_t, double now) {
  const auto times = std::count(milestones_.begin(), milestones_.end(), last_epoch());
  return times > 0 ? now * std::pow(gamma_, static_cast<double>(times)) : now;
}
double MultiStepLR::at(std::size_t group, double) {
  const auto passed =
      std::upper_bound(milestones_.begin(), milestones_.end(), last_epoch()) - milestones_.begin();
  return base(group) * std::pow(gamma_, static_cast<double>(passed));
}

ConstantLR::ConstantLR(Optimizer& optimizer, double factor, std::int64_t total_iters, std::int64_t last_epoch)
    : EpochScheduler(optimizer, last_epoch), factor_(factor), total_(total_iters) {
  EBB_CHECK(factor >= 0 && factor <= 1, "ConstantLR: the factor must be between 0 and 1, got ", factor, ".");
  begin();
}
double ConstantLR::next(std::size_t group, double now) {
  if (last_epoch() == 0) return now * factor_;
  if (last_epoch() != total_) return now;
  return factor_ == 0 ? base(group) : now * (1 / factor_);  // the factor 0 cannot be undone by a division
}
double ConstantLR::at(std::size_t group, double) {
  return base(group) * (last_epoch() >= total_ ? 1 : factor_);
}

LinearLR::LinearLR(Optimizer& optimizer, double start_factor, double end_factor, std::int64_t total_iters,
                   std::int64_t last_epoch)
    : EpochScheduler(optimizer, last_epoch), start_(start_factor), end_(end_factor), total_(total_iters) {
  EBB_CHECK(start_ > 0 && start_ <= 1, "LinearLR: start_factor must be above 0 and at most 1, got ", start_,
            ".");
  EBB_CHECK(end_ >= 0 && end_ <= 1, "LinearLR: end_factor must be between 0 and 1, got ", end_, ".");
  EBB_CHECK(total_ > 0, "LinearLR: total_iters must be positive, got ", total_, ".");
  begin();
}
double LinearLR::next(std::size_t, double now) {
  if (last_epoch() == 0) return now * start_;
  if (is_first() || last_epoch() > total_) return now;
  const double passed = static_cast<double>(last_epoch() - 1) * (end_ - start_);
  return now * (1 + (end_ - start_) / (static_cast<double>(total_) * start_ + passed));
}
double LinearLR::at(std::size_t group, double) {
  const double share = static_cast<double>(std::min(last_epoch(), total_)) / static_cast<double>(total_);
  return base(group) * (start_ + (end_ - start_) * share);
}

ExponentialLR::ExponentialLR(Optimizer& optimizer, double gamma, std::int64_t last_epoch)
    : EpochScheduler(optimizer, last_epoch), gamma_(gamma) {
  begin();
}
double ExponentialLR::next(std::size_t, double now) { return is_first() ? now : now * gamma_; }
double ExponentialLR::at(std::size_t group, double) {
  return base(group) * std::pow(gamma_, static_cast<double>(last_epoch()));
}

PolynomialLR::PolynomialLR(Optimizer& optimizer, std::int64_t total_iters, double power,
                           std::int64_t last_epoch)
    : EpochScheduler(optimizer, last_epoch), total_(total_iters), power_(power) {
  EBB_CHECK(total_ > 0, "PolynomialLR: total_iters must be positive, got ", total_, ".");
  begin();
}
double PolynomialLR::next(std::size_t, double now) {
  if (is_first() || last_epoch() > total_) return now;
  const auto total = static_cast<double>(total_), t = static_cast<double>(last_epoch());
  return now * std::pow((1 - t / total) / (1 - (t - 1) / total), power_);
}
double PolynomialLR::at(std::size_t group, double) {
  const double share = static_cast<double>(std::min(last_epoch(), total_)) / static_cast<double>(total_);
  return base(group) * std::pow(1 - share, power_);
}

CosineAnnealingLR::CosineAnnealingLR(Optimizer& optimizer, std::int64_t T_max, double eta_min,
                                     std::int64_t last_epoch)
    : EpochScheduler(optimizer, last_epoch), half_(T_max), least_(eta_min) {
  EBB_CHECK(half_ > 0, "CosineAnnealingLR: T_max must be positive, got ", half_, ".");
  begin();
}
double CosineAnnealingLR::next(std::size_t group, double now) {
  const std::int64_t t = last_epoch();
  if (is_first()) return now;
  if ((t - 1 - half_) % (2 * half_) ==
      0)  // in the first step after a minimum, the next line would divide by 0
    return now + (base(group) - least_) * (2 - wave(1, half_)) / 2;
  return wave(t, half_) / wave(t - 1, half_) * (now - least_) + least_;
}
double CosineAnnealingLR::at(std::size_t group, double) {
  return least_ + (base(group) - least_) * wave(last_epoch(), half_) / 2;
}

CosineAnnealingWarmRestarts::CosineAnnealingWarmRestarts(Optimizer& optimizer, std::int64_t T_0,
                                                         std::int64_t T_mult, double eta_min,
                                                         std::int64_t last_epoch)
    : EpochScheduler(optimizer, last_epoch), first_(T_0), factor_(T_mult), least_(eta_min) {
  EBB_CHECK(first_ > 0, "CosineAnnealingWarmRestarts: T_0 must be positive, got ", first_, ".");
  EBB_CHECK(factor_ >= 1, "CosineAnnealingWarmRestarts: T_mult must be at least 1, got ", factor_, ".");
  begin();
}
// Returns (rate - eta_min) / (initial rate - eta_min) at epoch t. The result is never 0.
double CosineAnnealingWarmRestarts::share(std::int64_t t) const {
  std::int64_t length = first_;
  if (factor_ == 1) t %= length;
  for (; t >= length; length *= factor_) t -= length;
  return wave(t, length) / 2;
}
double CosineAnnealingWarmRestarts::next(std::size_t group, double now) {
  const std::int64_t t = last_epoch();
  const double height = base(group) - least_;
  const double alone = least_ + height * (t == 0 ? 1 : share(t - 1));  // the rate without other schedules
  // SequentialLR resets the rate to the group's initial rate. It differs from base(group) if a OneCycleLR has
  // replaced it.
  const bool reset = t == 0 && now == optimizer().param_groups()[group].options().initial_lr();
  if (reset || now == alone) return least_ + height * share(t);
  return t == 0 ? now : least_ + (now - least_) * share(t) / share(t - 1);
}
double CosineAnnealingWarmRestarts::at(std::size_t group, double) {
  return least_ + (base(group) - least_) * share(last_epoch());
}

namespace {

using Function = std::function<double(std::int64_t)>;

const std::vector<Function>& checked(const char* name, const std::vector<Function>& functions,
                                     Optimizer& optimizer) {
  EBB_CHECK(functions.size() == optimizer.param_groups().size(), name, ": expected ",
            std::uint64_t{optimizer.param_groups().size()}, " functions, one for each parameter group, got ",
            std::uint64_t{functions.size()}, ".");
  for (const Function& each : functions) EBB_CHECK(each, name, ": a function is empty.");
  return functions;
}
std::vector<Function> for_all(const Function& function, Optimizer& optimizer) {
  return std::vector<Function>(optimizer.param_groups().size(), function);
}

}  // namespace

LambdaLR::LambdaLR(Optimizer& optimizer, Function lr_lambda, std::int64_t last_epoch)
    : LambdaLR(optimizer, for_all(lr_lambda, optimizer), last_epoch) {}
LambdaLR::LambdaLR(Optimizer& optimizer, std::vector<Function> lr_lambdas, std::int64_t last_epoch)
    : EpochScheduler(optimizer, last_epoch), functions_(checked("LambdaLR", lr_lambdas, optimizer)) {
  begin();
}
double LambdaLR::next(std::size_t group, double) { return base(group) * functions_[group](last_epoch()); }

MultiplicativeLR::MultiplicativeLR(Optimizer& optimizer, Function lr_lambda, std::int64_t last_epoch)
    : MultiplicativeLR(optimizer, for_all(lr_lambda, optimizer), last_epoch) {}
MultiplicativeLR::MultiplicativeLR(Optimizer& optimizer, std::vector<Function> lr_lambdas,
                                   std::int64_t last_epoch)
    : EpochScheduler(optimizer, last_epoch), functions_(checked("MultiplicativeLR", lr_lambdas, optimizer)) {
  begin();
}
double MultiplicativeLR::next(std::size_t group, double now) {
  return is_first() ? now : now * functions_[group](last_epoch());
}

namespace {

void check_momentum(const char* name, Optimizer& optimizer) {
  for (OptimizerParamGroup& group : optimizer.param_groups())
    EBB_CHECK(group.options().get_momentum(), name,
              ": the optimizer has neither momentum nor betas. Set cycle_momentum(false).");
}

// Sets the initial rates of a CyclicLR and returns the optimizer. CyclicLR calls this function before its
// base class reads the groups' initial rates.
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
  // begin() sets the first rates with the groups' initial rates as lower bounds. These differ from base_lr if
  // another schedule was constructed before this one.
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
