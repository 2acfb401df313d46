// Numbers that stand for the settings of a program.
#pragma once

#include <ebb/core/api.h>

#include <cstdint>

namespace ebb::detail {

/// The finaliser of SplitMix64: numbers that differ in one bit become numbers that have nothing in common.
constexpr std::uint64_t mixed(std::uint64_t z) noexcept {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/// The fingerprint of all that is set and stands in no tensor: which modules train, and which hooks modules
/// and optimizers have. Functions recorded by ebb::compile belong to one fingerprint.
EBB_API std::uint64_t settings_fingerprint() noexcept;
/// Sets the setting `which`, or takes it back: the fingerprint is what it was when each setting is what it
/// was.
EBB_API void toggle_setting(std::uint64_t which) noexcept;

}  // namespace ebb::detail
