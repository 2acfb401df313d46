// Whether ops record. The modes belong to the calling thread; guards restore them, also when an exception
// passes.
#pragma once

#include <ebb/core/api.h>

namespace ebb {

/// The thread's gradient mode: while off, ops record no graph.
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

/// Records again inside a NoGradGuard (torch.enable_grad).
class EnableGradGuard : public AutoGradMode {
 public:
  EnableGradGuard() : AutoGradMode(true) {}
};

/// No recording and no view or version tracking: tensors made in this scope are inference tensors, which can
/// never take part in a graph (torch: c10::InferenceMode).
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
using ebb::NoGradGuard;
}  // namespace autograd

}  // namespace ebb
