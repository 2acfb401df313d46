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
  EBB_ARG(double, pct_start) = 0.3;         ///< share of the steps in which the rate rises
  EBB_ARG(Anneal, anneal) = Anneal::cos;    ///< cosine or linear
  EBB_ARG(bool, cycle_momentum) = true;     ///< the momentum (or first beta) goes the other way
  EBB_ARG(PerGroup, base_momentum) = 0.85;  ///< least momentum
  EBB_ARG(PerGroup, max_momentum) = 0.95;   ///< largest momentum
  EBB_ARG(double, div_factor) = 25;         ///< the first rate is max_lr / div_factor
  EBB_ARG(double, final_div_factor) = 1e4;  ///< the last one is the first / final_div_factor
  EBB_ARG(bool, three_phase) = false;       ///< symmetric: down to the first rate, then on to the last
};

/// Up to max_lr and down to almost nothing in total_steps calls of step(), one a batch (Smith & Topin 2019;
/// torch.optim.lr_scheduler.OneCycleLR). One call too many is an error. Its first rate becomes the groups'
/// first one, also for schedules that are made later.
class EBB_API OneCycleLR : public EpochScheduler {
 public:
  OneCycleLR(Optimizer& optimizer, const PerGroup& max_lr, std::int64_t total_steps,
             OneCycleLROptions options = {}, std::int64_t last_epoch = -1);

 private:
  double next(std::size_t group, double now) override;
  struct Phase {
    double end, from, to;             // rates as factors of the first one
    bool from_momentum, to_momentum;  // whether it is the largest
  };
  std::vector<double> max_lrs_, low_, high_;  // of each group; the momentum's least and largest
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
  EBB_ARG(std::int64_t, step_size_down) = 0;   ///< steps in which it falls; 0: as many
  EBB_ARG(Mode, mode) = Mode::triangular;      ///< amplitude: constant; halved every cycle; gamma^step
  EBB_ARG(double, gamma) = 1;                  ///< base of exp_range
  EBB_ARG(Scale, scale_fn);                    ///< amplitude of a cycle, in place of the mode's
  EBB_ARG(bool, scale_by_cycle) = true;        ///< scale_fn gets the cycle's number, from 1; else the step's
  EBB_ARG(bool, cycle_momentum) = true;        ///< the momentum (or first beta) goes the other way
  EBB_ARG(PerGroup, base_momentum) = 0.8;      ///< least momentum
  EBB_ARG(PerGroup, max_momentum) = 0.9;       ///< largest momentum
};

/// Between base_lr and max_lr and back, again and again, a call of step() a batch (Smith 2017;
/// torch.optim.lr_scheduler.CyclicLR).
class EBB_API CyclicLR : public EpochScheduler {
 public:
  CyclicLR(Optimizer& optimizer, const PerGroup& base_lr, const PerGroup& max_lr,
           CyclicLROptions options = {}, std::int64_t last_epoch = -1);

 private:
  double next(std::size_t group, double now) override;
  double height(double cycle) const;
  struct Range {
    std::vector<double> low, high;  // of each group
  };
  Range rates_, momenta_;
  CyclicLROptions options_;
};

}  // namespace ebb::optim
