// Random number generators. On the CPU every op that draws gives the numbers of PyTorch 2.15 for the same
// seed, bit for bit, in every dtype, size and layout, and leaves the generator as PyTorch does. The table
// "Random numbers" of docs/semantics.md holds all exceptions: where PyTorch's numbers do not have the
// distribution.
#pragma once

#include <ebb/core/api.h>

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

namespace ebb {

/// MT19937 (Matsumoto & Nishimura 1998) as torch's CPU generator drives it. Copies share their state. As in
/// torch it takes the lower 32 bits of a seed: seeds that differ above them alone give equal numbers.
class EBB_API Generator {
 public:
  explicit Generator(std::uint64_t seed = 67280421310721ull);
  void set_current_seed(std::uint64_t seed);
  void manual_seed(std::uint64_t seed) { set_current_seed(seed); }
  std::uint64_t current_seed() const;
  /// Seeds from the system's entropy and returns the seed.
  std::uint64_t seed();
  /// Guards the generator while a kernel draws many numbers.
  std::mutex& mutex() const;

  // The following draw; the caller holds mutex().
  std::uint32_t random32();
  std::uint64_t random64();
  /// The second half of a Box-Muller pair left by the scalar normal sampler, as in torch.
  std::optional<double>& next_double_normal();
  std::optional<float>& next_float_normal();

  /// An independent generator in the same state.
  Generator clone() const;
  /// Continues as `other` would.
  void set_state(const Generator& other);

  bool defined() const { return static_cast<bool>(state_); }

  struct State;
  /// For kernels.
  State& state() const { return *state_; }

 private:
  std::shared_ptr<State> state_;
};

/// The CPU's default generator; seeded from the system's entropy when the program starts, as in torch.
EBB_API Generator& default_generator();
/// Seeds every device's default generator (torch.manual_seed).
EBB_API void manual_seed(std::uint64_t seed);

}  // namespace ebb
