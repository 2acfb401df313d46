// Sorting of whole segments on the device, by CUB's radix sorts (by the standard library in the emulation).
#pragma once

#include <ebb/core/device.h>

#include <cstdint>

namespace ebb::cuda {

/// Sorts `segments` neighbouring runs of `n` keys each, in place, smallest first.
void sort_keys(Device device, std::uint64_t* keys, std::int64_t segments, std::int64_t n);
/// The same with a value that goes with each key; equal keys keep their order. Keys below 2^bits: the fewer
/// bits, the faster.
void sort_pairs(Device device, std::uint64_t* keys, std::int64_t* values, std::int64_t segments,
                std::int64_t n, int bits = 64);

}  // namespace ebb::cuda
