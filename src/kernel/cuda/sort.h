// Sorts whole segments on the device with CUB's radix sort. The emulation uses the standard library.
#pragma once

#include <ebb/core/device.h>

#include <cstdint>

namespace ebb::cuda {

/// Only the bits [from, to) of the keys are compared. Fewer bits are faster.
struct KeyBits {
  int from = 0, to = 64;
};

/// Sorts `segments` adjacent runs of `n` keys each, in place and in ascending order. Keys that are equal in
/// `bits` keep their order.
void sort_keys(Device device, std::uint64_t* keys, std::int64_t segments, std::int64_t n, KeyBits bits = {});
/// Sorts keys as sort_keys() does, and moves a value with each key.
void sort_pairs(Device device, std::uint64_t* keys, std::int64_t* values, std::int64_t segments,
                std::int64_t n, KeyBits bits = {});

}  // namespace ebb::cuda
