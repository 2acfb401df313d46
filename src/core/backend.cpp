// The table of functions of each device's backend.
#include "core/backend.h"

#include <atomic>
#include <mutex>

namespace ebb::detail {
namespace {

struct Slot {
  std::atomic<const Backend*> backend{nullptr};
  std::mutex loading;
  const std::string* failure = nullptr;  // why the plugin could not be loaded; asked once a process
};

Slot& slot_of(DeviceType type) {
  // Never destroyed: tensors in static storage are freed after everything else of this library.
  static Slot* const slots = new Slot[kDeviceTypes];
  return slots[static_cast<int>(type)];
}

}  // namespace

const Backend* loaded_backend(DeviceType type) noexcept {
  return slot_of(type).backend.load(std::memory_order_acquire);
}

void set_backend(DeviceType type, const Backend* backend) {
  slot_of(type).backend.store(backend, std::memory_order_release);
}

const Backend& backend(DeviceType type) {
  if (const Backend* loaded = loaded_backend(type)) [[likely]]
    return *loaded;
  EBB_CHECK(type != DeviceType::CPU,
            "the CPU has no backend; its memory and kernels are part of the library.");
  Slot& slot = slot_of(type);
  const std::lock_guard lock(slot.loading);
  if (!slot.failure && !loaded_backend(type)) {
    std::string what = load_plugin(type);
    if (what.empty() && !loaded_backend(type))
      what = "Device::CUDA: its plugin registered no backend. Reinstall ebb.";
    if (!what.empty()) slot.failure = new std::string(std::move(what));
  }
  if (slot.failure) fail(*slot.failure);
  return *loaded_backend(type);
}

namespace {
constinit std::atomic<bool> side_streams{false};
}
bool side_streams_used() noexcept { return side_streams.load(std::memory_order_relaxed); }
void note_side_stream() noexcept { side_streams.store(true, std::memory_order_relaxed); }

void require_backend(DeviceType type) { backend(type); }

}  // namespace ebb::detail
