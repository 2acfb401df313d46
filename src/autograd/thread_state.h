// What autograd keeps for each thread.
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

// What <ebb/amp/autocast.h> set. `devices` is asked at the entry of every op that autocast has a rule for.
struct AutocastState {
  std::uint8_t devices = 0;  // a bit for each type of device where it is on
  bool cache_enabled = true;
  DType dtypes[kDeviceTypes] = {kBFloat16, kHalf};
  int nesting = 0;                  // scopes that are open; with the last one the cache goes
  ops::CastCache* cache = nullptr;  // of weights; owned
};

// Copied as a whole to the thread that continues a deep walk, and back: see backward.cpp.
struct ThreadState {
  bool grad_mode = true;
  bool inference_mode = false;
  bool anomaly_mode = false;
  bool check_nan = true;
  SavedHooksFrame* saved_hooks = nullptr;  // of the innermost SavedTensorHooks guard
  int backward_depth = 0;                  // nested walks
  std::uint64_t next_sequence_nr = 0;      // nodes recorded so far
  Node* dead_nodes = nullptr;              // waiting to be deleted by the outermost Node::destroy
  bool deleting_nodes = false;
  Node* evaluating = nullptr;  // the node whose apply() is running: parent of nodes recorded in it
  std::uint64_t unwanted = 0;  // a bit for each of its first inputs whose gradient leads nowhere
  AutocastState autocast;
};

// One thread_local object without a constructor: an access is one instruction, no guard.
extern constinit thread_local ThreadState thread_state [[gnu::tls_model("initial-exec")]];

// Sets for which devices autocast is on, for a scope; 0 suspends it.
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

// Autocast as it was elsewhere, for a scope: on for the same devices, to the same dtypes. Weights that it
// casts are not kept.
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
