// Whether ops must be deterministic.
#include <ebb/core/deterministic.h>

#include <atomic>

#include "core/isa.h"

namespace ebb {
namespace {

constinit std::atomic<bool> deterministic_only{false};

}  // namespace

void use_deterministic_algorithms(bool deterministic) {
  deterministic_only.store(deterministic, std::memory_order_relaxed);
  detail::run_same_kernels_everywhere(deterministic);
}
bool are_deterministic_algorithms_enabled() { return deterministic_only.load(std::memory_order_relaxed); }

}  // namespace ebb
