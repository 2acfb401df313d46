// cuda::nvtx: ranges go to the plugin, which alone knows NVIDIA's header.
#include <ebb/cuda/cuda.h>
#include <ebb/cuda/nvtx.h>

#include "core/backend.h"

namespace ebb {

constinit std::atomic<bool> detail::nvtx_emitted{false};

namespace cuda {
namespace {

// Null where there is no device; asked once, for a plugin that cannot be had says so by an exception.
const detail::Backend* backend_or_null() noexcept {
  static const bool there = is_available();
  return there ? detail::loaded_backend(DeviceType::CUDA) : nullptr;
}

constexpr int kNotCounted = -1;

}  // namespace

int nvtx::range_push(const char* message) noexcept {
  const detail::Backend* const backend = backend_or_null();
  return backend ? backend->range_push(message) : kNotCounted;
}
int nvtx::range_pop() noexcept {
  const detail::Backend* const backend = backend_or_null();
  return backend ? backend->range_pop() : kNotCounted;
}
void nvtx::mark(const char* message) noexcept {
  if (const detail::Backend* const backend = backend_or_null()) backend->mark(message);
}
std::uint64_t nvtx::range_start(const char* message) noexcept {
  const detail::Backend* const backend = backend_or_null();
  return backend ? backend->range_start(message) : 0;
}
void nvtx::range_end(std::uint64_t id) noexcept {
  if (const detail::Backend* const backend = backend_or_null()) backend->range_end(id);
}

void emit_nvtx(bool emit) noexcept { detail::nvtx_emitted.store(emit, std::memory_order_relaxed); }
bool is_nvtx_emitted() noexcept { return detail::nvtx_emitted.load(std::memory_order_relaxed); }

}  // namespace cuda
}  // namespace ebb
