// The modes of a thread and their guards: gradient mode, inference mode, and the settings of autocast.
#include <ebb/autograd/grad_mode.h>

#include "autograd/thread_state.h"

namespace ebb {

namespace autograd {
constinit thread_local ThreadState thread_state;

AutocastSetting AutocastSetting::now() {
  AutocastSetting setting{thread_state.autocast.devices, {}};
  for (int i = 0; i < kDeviceTypes; ++i) setting.dtypes[i] = thread_state.autocast.dtypes[i];
  return setting;
}
}  // namespace autograd

using autograd::thread_state;

bool GradMode::is_enabled() { return thread_state.grad_mode && !thread_state.inference_mode; }
void GradMode::set_enabled(bool enabled) { thread_state.grad_mode = enabled; }

InferenceMode::InferenceMode(bool enabled)
    : previous_inference_(thread_state.inference_mode), previous_grad_(thread_state.grad_mode) {
  thread_state.inference_mode = enabled;
  thread_state.grad_mode = !enabled;
}

InferenceMode::~InferenceMode() {
  thread_state.inference_mode = previous_inference_;
  thread_state.grad_mode = previous_grad_;
}

bool InferenceMode::is_enabled() { return thread_state.inference_mode; }

}  // namespace ebb
