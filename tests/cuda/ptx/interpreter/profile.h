// Counts of what decides the speed of a kernel.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace ebb::ptx {

/// Counts of one entry, over all its launches.
struct Counts {
  std::uint64_t launches = 0;
  std::uint64_t instructions = 0;     // of warps
  std::uint64_t lanes = 0;            // active lanes of all these instructions
  std::uint64_t global_requests = 0;  // of warps
  std::uint64_t sectors = 0;          // of 32 bytes that the requests touch
  std::uint64_t least_sectors = 0;    // that would hold the same bytes
  std::uint64_t shared_requests = 0;
  std::uint64_t passes = 0;        // over the banks of shared memory
  std::uint64_t least_passes = 0;  // without conflicts of banks
  std::uint64_t local_requests = 0;
  std::uint64_t atomics = 0;  // of lanes
};

/// Counts a warp's request of global memory: `bytes` at each of the `lanes` addresses.
void count_global(Counts& counts, const std::uint64_t* addresses, std::uint32_t lanes, unsigned bytes);
/// The same of shared memory: 32 banks of 4 bytes.
void count_shared(Counts& counts, const std::uint64_t* addresses, std::uint32_t lanes, unsigned bytes);

/// A table of the counts, an entry a line, with a title line; columns are separated by tabs.
std::string profile_table(const std::map<std::string, Counts>& counts);

}  // namespace ebb::ptx
