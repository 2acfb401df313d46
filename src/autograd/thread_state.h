// The autograd state of a thread.
#pragma once

#include <ebb/autograd/autocast_setting.h>
#include <ebb/core/device.h>
#include <ebb/core/dtype.h>

#include <cstdint>

namespace ebb {
namespace ops {
struct CastCache;
}

namespace autograd {

class Node;
struct SavedHooksFrame;

// The settings of <ebb/amp/autocast.h>. Each op with an autocast rule reads the field `devices` first.
struct AutocastState {
  std::uint8_t devices = 0;  // one bit per device type for which autocast is on
  bool cache_enabled = true;
  DType dtypes[kDeviceTypes] = {kBFloat16, kHalf};
  int nesting = 0;                  // open scopes; the outermost one frees the cache
  ops::CastCache* cache = nullptr;  // cache of cast weights; owned
};

// The state is copied as a whole to the thread that continues a deeply nested backward pass, and back: see
// backward.cpp.
struct ThreadState {
  bool grad_mode = true;
  bool inference_mode = false;
  bool anomaly_mode = false;
  bool check_nan = true;
  SavedHooksFrame* saved_hooks = nullptr;  // frame of the innermost SavedTensorHooks guard
  int backward_depth = 0;                  // nested backward passes
  std::uint64_t next_sequence_nr = 0;      // number of recorded nodes
  Node* dead_nodes = nullptr;              // nodes that the outermost Node::destroy will delete
  bool deleting_nodes = false;
  Node* evaluating = nullptr;             // the node whose apply() is running
  std::uint64_t skipped_inputs_mask = 0;  // bit i: input i of `evaluating` needs no gradient (first 64)
  AutocastState autocast;
};

// A thread_local object without a constructor: an access is one instruction, without a guard.
extern constinit thread_local ThreadState thread_state [[gnu::tls_model("initial-exec")]];

// Sets the devices for which autocast is on, for a scope; 0 suspends it.
class AutocastDevices {
 public:
  explicit AutocastDevices(std::uint8_t devices) : previous_(thread_state.autocast.devices) {
    thread_state.autocast.devices = devices;
  }
  ~AutocastDevices() { thread_state.autocast.devices = previous_; }
  AutocastDevices(const AutocastDevices&) = delete;
  AutocastDevices& operator=(const AutocastDevices&) = delete;

 private:
  std::uint8_t previous_;
};

// Restores recorded settings of autocast, the devices and dtypes, for a scope. Within the scope, cast weights
// are not cached.
class AutocastAgain {
 public:
  explicit AutocastAgain(const AutocastSetting& then)
      : setting_(AutocastSetting::now()), cache_enabled_(thread_state.autocast.cache_enabled) {
    enter(then, false);
  }
  ~AutocastAgain() { enter(setting_, cache_enabled_); }
  AutocastAgain(const AutocastAgain&) = delete;
  AutocastAgain& operator=(const AutocastAgain&) = delete;

 private:
  static void enter(const AutocastSetting& setting, bool cache_enabled) {
    AutocastState& state = thread_state.autocast;
    state.devices = setting.devices;
    for (int i = 0; i < kDeviceTypes; ++i) state.dtypes[i] = setting.dtypes[i];
    state.cache_enabled = cache_enabled;
  }
  AutocastSetting setting_;
  bool cache_enabled_;
};

}  // namespace autograd
}  // namespace ebb
