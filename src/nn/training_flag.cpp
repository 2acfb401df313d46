// The fingerprint of all modules' training flags.
#include <ebb/nn/training_flag.h>

#include <atomic>

namespace ebb::nn::detail {
namespace {
std::atomic<std::uint64_t> fingerprint{0};
}

// Those that are off stand in it, each by a number of its address (the finaliser of SplitMix64).
void TrainingFlag::flip() noexcept {
  std::uint64_t z = reinterpret_cast<std::uintptr_t>(this) + 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  fingerprint.fetch_xor(z ^ (z >> 31), std::memory_order_relaxed);
  on_ = !on_;
}

std::uint64_t training_fingerprint() noexcept { return fingerprint.load(std::memory_order_relaxed); }

}  // namespace ebb::nn::detail
