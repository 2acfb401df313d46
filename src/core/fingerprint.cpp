// The fingerprint of the program's settings.
#include "core/fingerprint.h"

#include <atomic>

namespace ebb::detail {
namespace {
std::atomic<std::uint64_t> fingerprint{0};
}

std::uint64_t settings_fingerprint() noexcept { return fingerprint.load(std::memory_order_relaxed); }
void toggle_setting(std::uint64_t which) noexcept {
  fingerprint.fetch_xor(mixed(which), std::memory_order_relaxed);
}

}  // namespace ebb::detail
