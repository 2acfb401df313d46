// Learning-rate schedules with a formula of the epoch: StepLR, MultiStepLR, ConstantLR, LinearLR,
// ExponentialLR, PolynomialLR, CosineAnnealingLR, CosineAnnealingWarmRestarts, LambdaLR, MultiplicativeLR.
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
  EBB_CHECK(step_size > 0, "StepLR: step_size must be positive.");
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
  return factor_ == 0 ? base(group) : now * (1 / factor_);  // a rate times 0 cannot be divided by 0 again
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
      0)  // the first step after a minimum, where the next line would divide by 0
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
// Returns (rate - minimum) / (initial rate - minimum) at epoch t, which is never 0.
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
  if (now == alone) return least_ + height * share(t);
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

}  // namespace ebb::optim
