// Finding the op whose derivative is not a number.
#pragma once

#include <ebb/core/api.h>

namespace ebb::autograd {

/// While on, backward throws at the first gradient that holds a NaN and names the op whose derivative it is
/// (torch.autograd.set_detect_anomaly). Belongs to the calling thread; costs a pass over every gradient.
struct EBB_API AnomalyMode {
  static bool is_enabled();
  static bool should_check_nan();
  static void set_enabled(bool enabled, bool check_nan = true);
};

/// Anomaly mode for a scope.
class DetectAnomalyGuard {
 public:
  explicit DetectAnomalyGuard(bool check_nan = true)
      : enabled_(AnomalyMode::is_enabled()), check_nan_(AnomalyMode::should_check_nan()) {
    AnomalyMode::set_enabled(true, check_nan);
  }
  ~DetectAnomalyGuard() { AnomalyMode::set_enabled(enabled_, check_nan_); }
  DetectAnomalyGuard(const DetectAnomalyGuard&) = delete;
  DetectAnomalyGuard& operator=(const DetectAnomalyGuard&) = delete;

 private:
  bool enabled_;
  bool check_nan_;
};

}  // namespace ebb::autograd
