// The Philox generator: random bits as a function of a key and a counter, identical on host and device.
#pragma once

#include <ebb/core/half.h>

#include <cstdint>

namespace ebb {

/// Philox4x32-10 (Salmon, Moraes, Dror & Shaw, Parallel random numbers: as easy as 1, 2, 3, SC 2011).
struct Philox {
  std::uint64_t seed = 0;
  std::uint64_t call = 0;  // index of this draw among the draws of the generator
  // In a captured graph, points to {seed, index of the first draw} in device memory, which is written before
  // each replay. `call` is then relative to this index, and the field `seed` is not used. Otherwise null.
  const std::uint64_t* base = nullptr;

  /// Computes four words for each of the given counters. Several counters share the key schedule.
  template <int N>
  EBB_HD void words(const std::uint64_t (&numbers)[N], std::uint32_t (&out)[N][4]) const {
    const std::uint64_t from = base ? base[0] : seed, draw = base ? base[1] + call : call;
    std::uint32_t key[2] = {static_cast<std::uint32_t>(from), static_cast<std::uint32_t>(from >> 32)};
    for (int n = 0; n < N; ++n) {
      out[n][0] = static_cast<std::uint32_t>(numbers[n]);
      out[n][1] = static_cast<std::uint32_t>(numbers[n] >> 32);
      out[n][2] = static_cast<std::uint32_t>(draw);
      out[n][3] = static_cast<std::uint32_t>(draw >> 32);
    }
    for (int round = 0; round < 10; ++round) {
      for (int n = 0; n < N; ++n) {
        const std::uint64_t a = std::uint64_t{0xD2511F53u} * out[n][0],
                            b = std::uint64_t{0xCD9E8D57u} * out[n][2];
        out[n][0] = static_cast<std::uint32_t>(b >> 32) ^ out[n][1] ^ key[0];
        out[n][1] = static_cast<std::uint32_t>(b);
        out[n][2] = static_cast<std::uint32_t>(a >> 32) ^ out[n][3] ^ key[1];
        out[n][3] = static_cast<std::uint32_t>(a);
      }
      key[0] += 0x9E3779B9u;
      key[1] += 0xBB67AE85u;
    }
  }
  EBB_HD void words(std::uint64_t number, std::uint32_t (&out)[4]) const {
    const std::uint64_t numbers[1] = {number};
    std::uint32_t all[1][4];
    words(numbers, all);
    for (int i = 0; i < 4; ++i) out[i] = all[0][i];
  }
};

}  // namespace ebb
