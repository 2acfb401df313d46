// Random number generators. With the same seed, every random op on the CPU draws the numbers of PyTorch 2.15,
// bit for bit, in every dtype, size and layout, and leaves the generator in the same state. The table "Random
// numbers" of docs/semantics.md lists all exceptions: ops for which PyTorch's numbers do not follow the
// distribution.
#pragma once

#include <ebb/core/api.h>

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

namespace ebb {

/// MT19937 (Matsumoto & Nishimura 1998), used as in torch's CPU generator. Copies share their state. As in
/// torch, only the lower 32 bits of a seed count: seeds with equal lower bits give equal numbers.
class EBB_API Generator {
 public:
  explicit Generator(std::uint64_t seed = 67280421310721ull);
  void set_current_seed(std::uint64_t seed);
  void manual_seed(std::uint64_t seed) { set_current_seed(seed); }
  std::uint64_t current_seed() const;
  /// Seeds the generator from the system's entropy and returns the seed.
  std::uint64_t seed();
  /// Returns the mutex that a kernel holds while it draws many numbers.
  std::mutex& mutex() const;

  // The functions below draw numbers. The caller must hold mutex().
  std::uint32_t random32();
  std::uint64_t random64();
  /// The unused second value of a Box-Muller pair of the scalar normal sampler, as in torch.
  std::optional<double>& next_double_normal();
  std::optional<float>& next_float_normal();

  /// Returns an independent generator in the same state.
  Generator clone() const;
  /// Copies the state of `other`.
  void set_state(const Generator& other);

  bool defined() const { return static_cast<bool>(state_); }

  struct State;
  /// Returns the state, for kernels.
  State& state() const { return *state_; }

 private:
  std::shared_ptr<State> state_;
};

/// Returns the CPU's default generator. It is seeded from the system's entropy at program start, as in torch.
EBB_API Generator& default_generator();
/// Seeds the default generators of all devices (torch.manual_seed).
EBB_API void manual_seed(std::uint64_t seed);

}  // namespace ebb
