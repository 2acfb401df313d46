// Random bits that are a function of a key and a counter, the same on host and device.
#pragma once

#include <ebb/core/half.h>

#include <cstdint>

namespace ebb {

/// Philox4x32-10 (Salmon, Moraes, Dror & Shaw, Parallel random numbers: as easy as 1, 2, 3, SC 2011).
struct Philox {
  std::uint64_t seed = 0;
  std::uint64_t call = 0;  // which draw of the generator this is
  // In a captured graph {seed, number of the first draw} in device memory, written anew before each replay:
  // `call` counts from there and `seed` is not used. Else null.
  const std::uint64_t* base = nullptr;

  /// Four words for the given number; every number has its own.
  EBB_HD void words(std::uint64_t number, std::uint32_t (&out)[4]) const {
    const std::uint64_t from = base ? base[0] : seed, draw = base ? base[1] + call : call;
    std::uint32_t key[2] = {static_cast<std::uint32_t>(from), static_cast<std::uint32_t>(from >> 32)};
    out[0] = static_cast<std::uint32_t>(number);
    out[1] = static_cast<std::uint32_t>(number >> 32);
    out[2] = static_cast<std::uint32_t>(draw);
    out[3] = static_cast<std::uint32_t>(draw >> 32);
    for (int round = 0; round < 10; ++round) {
      const std::uint64_t a = std::uint64_t{0xD2511F53u} * out[0], b = std::uint64_t{0xCD9E8D57u} * out[2];
      out[0] = static_cast<std::uint32_t>(b >> 32) ^ out[1] ^ key[0];
      out[1] = static_cast<std::uint32_t>(b);
      out[2] = static_cast<std::uint32_t>(a >> 32) ^ out[3] ^ key[1];
      out[3] = static_cast<std::uint32_t>(a);
      key[0] += 0x9E3779B9u;
      key[1] += 0xBB67AE85u;
    }
  }
};

}  // namespace ebb
