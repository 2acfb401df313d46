// Limits of the dynamic shared memory of a block.
#include "cuda/emu/runtime/launch.h"

#include "cuda/emu/runtime/state.h"

#include <atomic>
#include <chrono>
#include <thread>

namespace ebb::emu {
namespace {

constexpr std::size_t kUnasked = 48 << 10, kMost = 227 << 10;

std::atomic<long> calls{0};
std::mutex mutex;  // guards the following members

std::map<std::pair<int, const void*>, std::size_t>& allowed() {
  static auto* const all = new std::map<std::pair<int, const void*>, std::size_t>();
  return *all;
}

}  // namespace

long attribute_calls() { return calls; }

cudaError_t check_shared_bytes(const void* kernel, std::size_t bytes) {
  if (bytes <= kUnasked) [[likely]]
    return cudaSuccess;
  const std::lock_guard lock(mutex);
  const auto found = allowed().find({current_device_index(), kernel});
  return found != allowed().end() && found->second >= bytes ? cudaSuccess : set_error(cudaErrorInvalidValue);
}

}  // namespace ebb::emu

using namespace ebb::emu;

cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute, int value) {
  ++calls;
  if (const cudaError_t error = injected_error()) return error;
  if (value < 0 || static_cast<std::size_t>(value) > kMost) return set_error(cudaErrorInvalidValue);
  {
    const std::lock_guard lock(mutex);
    allowed().insert_or_assign({current_device_index(), kernel}, static_cast<std::size_t>(value));
  }
  std::this_thread::sleep_for(
      std::chrono::microseconds(20));  // simulates a driver call, during which other threads run
  return cudaSuccess;
}
