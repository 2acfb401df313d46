// Whether ops record. The modes belong to the calling thread; guards restore them, also when an exception
// passes.
#pragma once

#include <ebb/core/api.h>

namespace ebb {

/// The thread's gradient mode: while off, as it is throughout inference mode, ops record no graph.
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

/// Records nothing in this scope (torch.no_grad).
class NoGradGuard : public AutoGradMode {
 public:
  NoGradGuard() : AutoGradMode(false) {}
};

/// Records again inside a NoGradGuard (torch.enable_grad), but not inside an InferenceMode.
class EnableGradGuard : public AutoGradMode {
 public:
  EnableGradGuard() : AutoGradMode(true) {}
};

/// No recording: what ops make in this scope are inference tensors, without view and version tracking, and
/// never kept for backward. Views of other tensors stay what these are (torch: c10::InferenceMode).
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
