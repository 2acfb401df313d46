// Sorting in the emulation, on the CPU.
#include "kernel/cuda/sort.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "cuda/emu/runtime/api.h"
#include "kernel/cuda/device.h"

namespace ebb::cuda {
namespace {

/// Of a key what is compared.
std::uint64_t compared(std::uint64_t key, KeyBits bits) {
  const std::uint64_t below = bits.to < 64 ? (std::uint64_t{1} << bits.to) - 1 : ~std::uint64_t{0};
  return (key & below) >> bits.from;
}

}  // namespace

void sort_keys(Device device, std::uint64_t* keys, std::int64_t segments, std::int64_t n, KeyBits bits) {
  const DeviceScope scope(device);
  emu::enqueue(current_stream(device), [=] {
    for (std::int64_t s = 0; s < segments; ++s)
      std::stable_sort(keys + s * n, keys + (s + 1) * n, [=](std::uint64_t a, std::uint64_t b) {
        return compared(a, bits) < compared(b, bits);
      });
  });
}

void sort_pairs(Device device, std::uint64_t* keys, std::int64_t* values, std::int64_t segments,
                std::int64_t n, KeyBits bits) {
  const DeviceScope scope(device);
  emu::enqueue(current_stream(device), [=] {
    std::vector<std::pair<std::uint64_t, std::int64_t>> items(static_cast<std::size_t>(n));
    for (std::int64_t s = 0; s < segments; ++s) {
      for (std::int64_t i = 0; i < n; ++i) items[i] = {keys[s * n + i], values[s * n + i]};
      std::stable_sort(items.begin(), items.end(), [=](const auto& a, const auto& b) {
        return compared(a.first, bits) < compared(b.first, bits);
      });
      for (std::int64_t i = 0; i < n; ++i)
        keys[s * n + i] = items[i].first, values[s * n + i] = items[i].second;
    }
  });
}

}  // namespace ebb::cuda
