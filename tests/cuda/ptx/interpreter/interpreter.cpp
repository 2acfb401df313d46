// Runs grids, and counts events that determine the speed of a kernel.
#include "interpreter.h"

#include "machine.h"
#include "syntax.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <set>

// Counts of events that determine the speed of a kernel.

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

// A request of 4 bytes per lane is served in one step, one of 8 bytes by half warps, one of 16 bytes by
// quarter warps. A pass serves one word of each bank.
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

// Runs grids.

namespace {

// Whether the name of the entry contains one of the parts.
bool is_named(const Entry& entry, const std::vector<std::string>& parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](const std::string& part) { return entry.name.find(part) != entry.name.npos; });
}

// The n-th block to run. Shuffled blocks use a step that is coprime to their number, so that each comes once.
u64 number_of_block(const Run& run, u64 n, u64 count) {
  if (run.settings.order == Order::forward) return n;
  if (run.settings.order == Order::reverse) return count - 1 - n;
  u64 step = std::max<u64>(1, count * 5 / 8);
  while (std::gcd(step, count) != 1) ++step;
  return static_cast<u64>((u128{n} * step + count / 3) % count);
}

}  // namespace

struct Interpreter::State {
  Run run;
  mutable std::mutex mutex;
};

Interpreter::Interpreter(GlobalMemory& memory, Settings settings, Report report)
    : state_(std::make_unique<State>()) {
  state_->run.memory = &memory;
  state_->run.settings = std::move(settings);
  state_->run.report = std::move(report);
}

Interpreter::~Interpreter() = default;

long Interpreter::findings() const {
  const std::lock_guard lock(state_->mutex);
  return state_->run.findings;
}

std::map<std::string, Counts> Interpreter::profile() const {
  const std::lock_guard lock(state_->mutex);
  return state_->run.counts;
}

Status Interpreter::run(Entry& entry, const Grid& grid, std::span<const std::byte> values) {
  const std::lock_guard lock(state_->mutex);
  decode(entry);
  Run& run = state_->run;
  Block block(run, entry, grid, values);
  block.shared.resize(aligned(entry.shared_bytes, 16) + grid.dynamic_shared);
  block.shadow.resize(block.shared.size());
  block.launch_start = next_interval();
  block.global_races = !is_named(entry, run.settings.unordered_entries);
  block.padded = is_named(entry, run.settings.padded_entries);
  if (run.settings.profile) {
    block.counts = &run.counts[entry.name];
    ++block.counts->launches;
  }
  block.warps.resize((grid.threads.x * grid.threads.y * grid.threads.z + 31) / 32);
  for (std::size_t n = 0; n < block.warps.size(); ++n) {
    Warp& warp = block.warps[n];
    warp.block = &block;
    warp.index = static_cast<unsigned>(n);
    warp.registers.assign(static_cast<std::size_t>(entry.registers) * 32, 0xcdcdcdcdcdcdcdcdULL);
    warp.local.assign(entry.local_bytes * 32, 0xcd);
  }
  const u64 count = u64{grid.blocks.x} * grid.blocks.y * grid.blocks.z;
  try {
    for (u64 n = 0; n < count; ++n) {
      const u64 at = number_of_block(run, n, count);
      block.at = {static_cast<unsigned>(at % grid.blocks.x),
                  static_cast<unsigned>(at / grid.blocks.x % grid.blocks.y),
                  static_cast<unsigned>(at / grid.blocks.x / grid.blocks.y)};
      run_block(block);
    }
  } catch (const Fault& fault) {
    return fault.status;
  }
  return Status::success;
}

std::string refusal(Entry& entry, const Grid& grid) {
  const Extent &blocks = grid.blocks, &threads = grid.threads;
  const u64 count = u64{threads.x} * threads.y * threads.z;
  if (blocks.x == 0 || blocks.y == 0 || blocks.z == 0 || count == 0) return "the grid is empty";
  if (blocks.x > 2147483647U || blocks.y > 65535 || blocks.z > 65535)
    return "the grid has more blocks than 2147483647, 65535, 65535";
  if (count > 1024 || threads.z > 64) return "the block has more than 1024 threads, or more than 64 along z";
  if (count > entry.most_threads) return "the block has more threads than the kernel's launch bounds";
  constexpr std::size_t kMostShared = std::size_t{227} << 10;
  if (static_shared_bytes(entry) + grid.dynamic_shared > kMostShared)
    return "the block asks for more shared memory than 227 KiB";
  return {};
}

}  // namespace ebb::ptx
