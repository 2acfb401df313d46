// A hash of the program's settings, for cache keys of ebb::compile.
#pragma once

#include <ebb/core/api.h>

#include <cstdint>

namespace ebb::detail {

/// The finaliser of SplitMix64. Inputs that differ in one bit give unrelated outputs.
constexpr std::uint64_t mixed(std::uint64_t z) noexcept {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/// Returns the fingerprint of the settings that are not stored in tensors: the training mode of modules, and
/// the hooks of modules and optimizers. A function recorded by ebb::compile is valid for one fingerprint.
EBB_API std::uint64_t settings_fingerprint() noexcept;
/// Turns the setting `which` on or off. The fingerprint depends only on the settings that are on, not on the
/// order of the calls.
EBB_API void toggle_setting(std::uint64_t which) noexcept;

}  // namespace ebb::detail
