// Random number generators; the CPU's reproduces torch's numbers.
#pragma once

#include <ebb/core/api.h>

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

namespace ebb {

/// MT19937 (Matsumoto & Nishimura 1998) as torch's CPU generator drives it. Copies share their state.
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
