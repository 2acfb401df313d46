// autocast: the settings, and the scopes that change them.
#include "ops/common/autocast.h"

#include <ebb/amp/autocast.h>
#include <ebb/core/error.h>
#include <ebb/core/warning.h>

#include "autograd/thread_state.h"

namespace ebb {

using autograd::thread_state;

namespace {

std::uint8_t bit_of(DeviceType device) {
  return static_cast<std::uint8_t>(1U << static_cast<unsigned>(device));
}

bool is_lower(DType dtype) { return dtype == kHalf || dtype == kBFloat16; }

}  // namespace

namespace autocast {

bool is_autocast_enabled(DeviceType device) { return (thread_state.autocast.devices & bit_of(device)) != 0; }

void set_autocast_enabled(DeviceType device, bool enabled) {
  std::uint8_t& devices = thread_state.autocast.devices;
  devices = static_cast<std::uint8_t>(enabled ? devices | bit_of(device) : devices & ~bit_of(device));
}

DType get_autocast_dtype(DeviceType device) { return thread_state.autocast.dtypes[static_cast<int>(device)]; }

void set_autocast_dtype(DeviceType device, DType dtype) {
  EBB_CHECK(is_lower(dtype), "set_autocast_dtype: autocast computes in BFloat16 or Half, got ", dtype, ".");
  thread_state.autocast.dtypes[static_cast<int>(device)] = dtype;
}

bool is_autocast_cache_enabled() { return thread_state.autocast.cache_enabled; }
void set_autocast_cache_enabled(bool enabled) { thread_state.autocast.cache_enabled = enabled; }
int increment_nesting() { return ++thread_state.autocast.nesting; }

int decrement_nesting() {
  EBB_CHECK(thread_state.autocast.nesting > 0, "decrement_nesting: no scope of autocast is open.");
  if (--thread_state.autocast.nesting == 0) clear_cache();
  return thread_state.autocast.nesting;
}

void clear_cache() { ops::clear_cast_cache(); }

}  // namespace autocast

namespace amp {

namespace on = ebb::autocast;

autocast::autocast(DeviceType device, optional<DType> dtype, bool enabled, optional<bool> cache_enabled)
    : device_(device),
      previous_cache_enabled_(on::is_autocast_cache_enabled()),
      previous_devices_(thread_state.autocast.devices),
      previous_dtype_(on::get_autocast_dtype(device)) {
  if (dtype && !is_lower(*dtype)) {
    if (enabled)
      warn("autocast: computes in BFloat16 or Half, not in ", *dtype, "; it stays off in this scope.");
    enabled = false;
  } else if (dtype) {
    on::set_autocast_dtype(device, *dtype);
  }
  on::set_autocast_enabled(device, enabled);
  if (cache_enabled) on::set_autocast_cache_enabled(*cache_enabled);
  on::increment_nesting();
}

autocast::~autocast() {
  on::decrement_nesting();
  on::set_autocast_cache_enabled(previous_cache_enabled_);
  on::set_autocast_dtype(device_, previous_dtype_);
  thread_state.autocast.devices = previous_devices_;
}

}  // namespace amp

}  // namespace ebb
