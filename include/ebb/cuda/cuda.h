// What a program may ask about CUDA devices, with or without one (torch::cuda).
#pragma once

#include <ebb/core/api.h>

#include <cstddef>
#include <cstdint>

namespace ebb::cuda {

/// Devices that can be used; 0 without the plugin, a driver or a device. Never throws.
EBB_API std::size_t device_count() noexcept;
/// Whether there is at least one. Never throws.
EBB_API bool is_available() noexcept;
/// Waits until everything queued on the device (-1: the current one) is done. Throws ebb::Error when there is
/// none.
EBB_API void synchronize(std::int64_t device_index = -1);
/// Seeds the generators of the CUDA devices; does nothing when there are none.
EBB_API void manual_seed(std::uint64_t seed);
EBB_API void manual_seed_all(std::uint64_t seed);

}  // namespace ebb::cuda
