// OneCycleLR and CyclicLR: schedules that raise the learning rate and lower it again.
#pragma once

#include <ebb/core/arg.h>
#include <ebb/optim/scheduler.h>

#include <functional>
#include <vector>

namespace ebb::optim {

/// Options of OneCycleLR.
class EBB_API OneCycleLROptions {
 public:
  enum class Anneal { cos, linear };
  EBB_ARG(double, pct_start) = 0.3;         ///< fraction of the steps in which the rate rises
  EBB_ARG(Anneal, anneal) = Anneal::cos;    ///< cosine or linear
  EBB_ARG(bool, cycle_momentum) = true;     ///< cycles the momentum (or first beta) inversely to the rate
  EBB_ARG(PerGroup, base_momentum) = 0.85;  ///< smallest momentum
  EBB_ARG(PerGroup, max_momentum) = 0.95;   ///< largest momentum
  EBB_ARG(double, div_factor) = 25;         ///< the first rate is max_lr / div_factor
  EBB_ARG(double, final_div_factor) = 1e4;  ///< the last rate is the first rate / final_div_factor
  EBB_ARG(bool, three_phase) = false;       ///< symmetric: up, down to the first rate, then to the last rate
};

/// Raises the learning rate to max_lr and lowers it to almost zero over total_steps calls of step(), one for
/// each batch (Smith & Topin 2019; torch.optim.lr_scheduler.OneCycleLR). Further calls throw. The first rate
/// becomes the initial rate of the groups, also for schedulers created later.
class EBB_API OneCycleLR : public EpochScheduler {
 public:
  OneCycleLR(Optimizer& optimizer, const PerGroup& max_lr, std::int64_t total_steps,
             OneCycleLROptions options = {}, std::int64_t last_epoch = -1);

 private:
  double next(std::size_t group, double now) override;
  struct Phase {
    double end, from, to;             // rates relative to the first rate
    bool from_momentum, to_momentum;  // whether the momentum is the largest momentum
  };
  std::vector<double> max_lrs_, low_, high_;  // for each group; low_ and high_ are the momentum's bounds
  std::int64_t total_;
  OneCycleLROptions options_;
  std::vector<Phase> phases_;
};

/// Options of CyclicLR.
class EBB_API CyclicLROptions {
 public:
  enum class Mode { triangular, triangular2, exp_range };
  using Scale = std::function<double(double)>;
  EBB_ARG(std::int64_t, step_size_up) = 2000;  ///< steps in which the rate rises
  EBB_ARG(std::int64_t, step_size_down) = 0;   ///< steps in which the rate falls; 0: step_size_up
  EBB_ARG(Mode, mode) = Mode::triangular;      ///< amplitude: constant, halved every cycle, or gamma^step
  EBB_ARG(double, gamma) = 1;                  ///< base of exp_range
  EBB_ARG(Scale, scale_fn);                    ///< amplitude factor of a cycle; replaces the factor of mode
  EBB_ARG(bool, scale_by_cycle) = true;    ///< scale_fn gets the index of the cycle (from 1), not of the step
  EBB_ARG(bool, cycle_momentum) = true;    ///< cycles the momentum (or first beta) inversely to the rate
  EBB_ARG(PerGroup, base_momentum) = 0.8;  ///< smallest momentum
  EBB_ARG(PerGroup, max_momentum) = 0.9;   ///< largest momentum
};

/// Raises the learning rate from base_lr to max_lr and lowers it again, in repeated cycles. Call step() after
/// each batch (Smith 2017; torch.optim.lr_scheduler.CyclicLR).
class EBB_API CyclicLR : public EpochScheduler {
 public:
  CyclicLR(Optimizer& optimizer, const PerGroup& base_lr, const PerGroup& max_lr,
           CyclicLROptions options = {}, std::int64_t last_epoch = -1);

 private:
  double next(std::size_t group, double now) override;
  double height(double cycle) const;
  struct Range {
    std::vector<double> low, high;  // for each group
  };
  Range rates_, momenta_;
  CyclicLROptions options_;
};

}  // namespace ebb::optim
