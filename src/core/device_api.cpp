#include <ebb/cuda/cuda.h>

#include <atomic>

#include "core/backend.h"

namespace ebb::cuda {

std::size_t device_count() noexcept {
  try {
    const int count = detail::backend(DeviceType::CUDA).device_count();
    return count > 0 ? static_cast<std::size_t>(count) : 0;
  } catch (...) {
    return 0;  // the question is whether there is one, not why not
  }
}

bool is_available() noexcept { return device_count() > 0; }

void synchronize(std::int64_t device_index) {
  const detail::Backend& backend = detail::backend(DeviceType::CUDA);
  const std::int64_t count = backend.device_count();
  EBB_CHECK(device_index >= -1 && device_index < count, "cuda::synchronize: device index ", device_index,
            " is out of range; there are ", count, " devices.");
  backend.synchronize(device_index < 0 ? backend.current_device() : Device(DeviceType::CUDA, device_index));
}

void manual_seed(std::uint64_t seed) {
  if (is_available()) detail::backend(DeviceType::CUDA).manual_seed(seed);
}
void manual_seed_all(std::uint64_t seed) { manual_seed(seed); }

namespace {
constinit std::atomic<bool> tf32_allowed{false};
}  // namespace

void allow_tf32(bool allow) { tf32_allowed.store(allow, std::memory_order_relaxed); }
bool is_tf32_allowed() { return tf32_allowed.load(std::memory_order_relaxed); }

}  // namespace ebb::cuda
