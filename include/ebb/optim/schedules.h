// StepLR, MultiStepLR, ExponentialLR, CosineAnnealingLR, LambdaLR and others: learning-rate schedulers. A
// formula gives lr at epoch t; lr0 is the group's initial rate.
#pragma once

#include <ebb/optim/scheduler.h>

#include <functional>

namespace ebb::optim {

/// Multiplies the rates by gamma every step_size calls of step(). The first change is at call step_size + 1,
/// as in libtorch, or at call step_size, as in Python: `StepLR(optimizer, 30, 0.1,
/// StepLR::Counting::kPython)`.
class EBB_API StepLR : public EpochScheduler {
 public:
  enum class Counting { kLibtorch, kPython };
  StepLR(Optimizer& optimizer, unsigned step_size, double gamma = 0.1,
         Counting counting = Counting::kLibtorch, std::int64_t last_epoch = -1);

 private:
  double next(std::size_t group, double now) override;
  double at(std::size_t group, double now) override;
  std::int64_t count() const;
  const std::int64_t step_size_;
  const double gamma_;
  const Counting counting_;
};

/// Multiplies the rates by gamma at each of the milestones.
class EBB_API MultiStepLR : public EpochScheduler {
 public:
  MultiStepLR(Optimizer& optimizer, std::vector<std::int64_t> milestones, double gamma = 0.1,
              std::int64_t last_epoch = -1);

 private:
  double next(std::size_t group, double now) override;
  double at(std::size_t group, double now) override;
  std::vector<std::int64_t> milestones_;
  const double gamma_;
};

/// lr0 * factor for t < total_iters, otherwise lr0.
class EBB_API ConstantLR : public EpochScheduler {
 public:
  explicit ConstantLR(Optimizer& optimizer, double factor = 1.0 / 3, std::int64_t total_iters = 5,
                      std::int64_t last_epoch = -1);

 private:
  double next(std::size_t group, double now) override;
  double at(std::size_t group, double now) override;
  const double factor_;
  const std::int64_t total_;
};

/// Linear in t from lr0 * start_factor at t = 0 to lr0 * end_factor at t = total_iters, then constant.
class EBB_API LinearLR : public EpochScheduler {
 public:
  explicit LinearLR(Optimizer& optimizer, double start_factor = 1.0 / 3, double end_factor = 1,
                    std::int64_t total_iters = 5, std::int64_t last_epoch = -1);

 private:
  double next(std::size_t group, double now) override;
  double at(std::size_t group, double now) override;
  const double start_, end_;
  const std::int64_t total_;
};

/// lr0 * gamma^t.
class EBB_API ExponentialLR : public EpochScheduler {
 public:
  ExponentialLR(Optimizer& optimizer, double gamma, std::int64_t last_epoch = -1);

 private:
  double next(std::size_t group, double now) override;
  double at(std::size_t group, double now) override;
  const double gamma_;
};

/// lr0 * (1 - min(t, total_iters) / total_iters)^power.
class EBB_API PolynomialLR : public EpochScheduler {
 public:
  explicit PolynomialLR(Optimizer& optimizer, std::int64_t total_iters = 5, double power = 1,
                        std::int64_t last_epoch = -1);

 private:
  double next(std::size_t group, double now) override;
  double at(std::size_t group, double now) override;
  const std::int64_t total_;
  const double power_;
};

/// eta_min + (lr0 - eta_min) (1 + cos(pi t / T_max)) / 2 (Loshchilov & Hutter 2017, without restarts).
class EBB_API CosineAnnealingLR : public EpochScheduler {
 public:
  CosineAnnealingLR(Optimizer& optimizer, std::int64_t T_max, double eta_min = 0,
                    std::int64_t last_epoch = -1);

 private:
  double next(std::size_t group, double now) override;
  double at(std::size_t group, double now) override;
  const std::int64_t half_;
  const double least_;
};

/// CosineAnnealingLR that restarts after T_0 epochs, then after T_0 T_mult more, and so on. In a
/// ChainedScheduler it changes the rate that other schedulers have set; PyTorch discards their changes.
class EBB_API CosineAnnealingWarmRestarts : public EpochScheduler {
 public:
  CosineAnnealingWarmRestarts(Optimizer& optimizer, std::int64_t T_0, std::int64_t T_mult = 1,
                              double eta_min = 0, std::int64_t last_epoch = -1);

 private:
  double next(std::size_t group, double now) override;
  double at(std::size_t group, double now) override;
  double share(std::int64_t epoch) const;
  const std::int64_t first_, factor_;
  const double least_;
};

/// lr0 * lr_lambda(t). There is one function for all groups, or one for each group.
class EBB_API LambdaLR : public EpochScheduler {
 public:
  using Function = std::function<double(std::int64_t)>;
  LambdaLR(Optimizer& optimizer, Function lr_lambda, std::int64_t last_epoch = -1);
  LambdaLR(Optimizer& optimizer, std::vector<Function> lr_lambdas, std::int64_t last_epoch = -1);

 private:
  double next(std::size_t group, double now) override;
  std::vector<Function> functions_;
};

/// Multiplies the rates by lr_lambda(t).
class EBB_API MultiplicativeLR : public EpochScheduler {
 public:
  using Function = std::function<double(std::int64_t)>;
  MultiplicativeLR(Optimizer& optimizer, Function lr_lambda, std::int64_t last_epoch = -1);
  MultiplicativeLR(Optimizer& optimizer, std::vector<Function> lr_lambdas, std::int64_t last_epoch = -1);

 private:
  double next(std::size_t group, double now) override;
  std::vector<Function> functions_;
};

}  // namespace ebb::optim
