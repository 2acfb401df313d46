// Counts of what decides the speed of a kernel.
#include "profile.h"

#include <algorithm>
#include <array>
#include <bit>
#include <set>

namespace ebb::ptx {
void count_global(Counts& counts, const std::uint64_t* addresses, std::uint32_t lanes, unsigned bytes) {
  constexpr std::uint64_t kSector = 32;
  std::set<std::uint64_t> sectors, elements;
  for (; lanes != 0; lanes &= lanes - 1) {
    const std::uint64_t first = addresses[std::countr_zero(lanes)];
    elements.insert(first);
    for (std::uint64_t sector = first / kSector; sector <= (first + bytes - 1) / kSector; ++sector)
      sectors.insert(sector);
  }
  ++counts.global_requests;
  counts.sectors += sectors.size();
  counts.least_sectors += (elements.size() * bytes + kSector - 1) / kSector;
}

// A request of 4 bytes a lane is served at once, one of 8 bytes by halves of the warp, one of 16 by quarters.
// A pass serves one word of each bank.
void count_shared(Counts& counts, const std::uint64_t* addresses, std::uint32_t lanes, unsigned bytes) {
  ++counts.shared_requests;
  const unsigned together = bytes >= 16 ? 8 : bytes == 8 ? 16 : 32;
  for (unsigned first = 0; first < 32; first += together) {
    std::array<std::set<std::uint64_t>, 32> words;
    std::size_t most = 0;
    for (unsigned lane = first; lane < first + together; ++lane) {
      if ((lanes >> lane & 1) == 0) continue;
      for (std::uint64_t word = addresses[lane] / 4; word <= (addresses[lane] + bytes - 1) / 4; ++word) {
        words[word % 32].insert(word);
        most = std::max(most, words[word % 32].size());
      }
    }
    counts.passes += most;
    counts.least_passes += most > 0 ? 1 : 0;
  }
}

std::string profile_table(const std::map<std::string, Counts>& counts) {
  std::string table =
      "launches\tinstructions\tlanes\tglobal requests\tsectors\tleast sectors\tshared requests\tpasses\t"
      "least passes\tlocal requests\tatomics\tkernel\n";
  for (const auto& [name, c] : counts) {
    for (const std::uint64_t count :
         {c.launches, c.instructions, c.lanes, c.global_requests, c.sectors, c.least_sectors,
          c.shared_requests, c.passes, c.least_passes, c.local_requests, c.atomics})
      table += std::to_string(count) + "\t";
    table += name + "\n";
  }
  return table;
}

}  // namespace ebb::ptx
