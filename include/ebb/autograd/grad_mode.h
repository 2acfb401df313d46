// Gradient mode and inference mode: whether ops record a graph. Modes belong to the calling thread. Guards
// restore the old mode at the end of their scope, also when an exception is thrown.
#pragma once

#include <ebb/core/api.h>

namespace ebb {

/// The thread's gradient mode. Ops record no graph while the mode is off. Inference mode switches it off too.
struct EBB_API GradMode {
  static bool is_enabled();
  static void set_enabled(bool enabled);
};

/// Sets the gradient mode for a scope.
class AutoGradMode {
 public:
  explicit AutoGradMode(bool enabled) : previous_(GradMode::is_enabled()) { GradMode::set_enabled(enabled); }
  ~AutoGradMode() { GradMode::set_enabled(previous_); }
  AutoGradMode(const AutoGradMode&) = delete;
  AutoGradMode& operator=(const AutoGradMode&) = delete;

 private:
  bool previous_;
};

/// Switches recording off in its scope (torch.no_grad).
class NoGradGuard : public AutoGradMode {
 public:
  NoGradGuard() : AutoGradMode(false) {}
};

/// Switches recording on again inside a NoGradGuard (torch.enable_grad), but not inside an InferenceMode.
class EnableGradGuard : public AutoGradMode {
 public:
  EnableGradGuard() : AutoGradMode(true) {}
};

/// Switches recording off, and makes the results of ops in the guard's scope inference tensors. An inference
/// tensor has no view and version tracking and cannot be saved for backward. A view of a tensor from outside
/// the scope is an inference tensor only if the viewed tensor is an inference tensor (torch:
/// c10::InferenceMode).
class EBB_API InferenceMode {
 public:
  explicit InferenceMode(bool enabled = true);
  ~InferenceMode();
  InferenceMode(const InferenceMode&) = delete;
  InferenceMode& operator=(const InferenceMode&) = delete;
  static bool is_enabled();

 private:
  bool previous_inference_;
  bool previous_grad_;
};

namespace autograd {
using ebb::AutoGradMode;
using ebb::GradMode;
using ebb::InferenceMode;
using ebb::NoGradGuard;
}  // namespace autograd

}  // namespace ebb
