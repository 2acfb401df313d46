// Sorting of whole segments on the device, by CUB's radix sorts (by the standard library in the emulation).
#pragma once

#include <ebb/core/device.h>

#include <cstdint>

namespace ebb::cuda {

/// The bits of the keys that are compared, [from, to): the fewer, the faster.
struct KeyBits {
  int from = 0, to = 64;
};

/// Sorts `segments` neighbouring runs of `n` keys each, in place, smallest first. Keys that are alike in
/// `bits` keep their order.
void sort_keys(Device device, std::uint64_t* keys, std::int64_t segments, std::int64_t n, KeyBits bits = {});
/// The same with a value that goes with each key.
void sort_pairs(Device device, std::uint64_t* keys, std::int64_t* values, std::int64_t segments,
                std::int64_t n, KeyBits bits = {});

}  // namespace ebb::cuda
