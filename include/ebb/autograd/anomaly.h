// Anomaly mode: finds the op whose derivative is NaN.
#pragma once

#include <ebb/core/api.h>

namespace ebb::autograd {

/// While the mode is on, backward throws at the first gradient that contains NaN. The error names the op that
/// computed it (torch.autograd.set_detect_anomaly). The mode belongs to the calling thread. The check reads
/// each gradient once more.
struct EBB_API AnomalyMode {
  static bool is_enabled();
  static bool should_check_nan();
  static void set_enabled(bool enabled, bool check_nan = true);
};

/// Sets anomaly mode for a scope.
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
