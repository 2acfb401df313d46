// Runs grids.
#include "interpreter.h"

#include <algorithm>
#include <numeric>

#include "machine.h"
#include "syntax.h"

namespace ebb::ptx {

namespace {

// Whether the entry's name contains one of the parts.
bool is_named(const Entry& entry, const std::vector<std::string>& parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](const std::string& part) { return entry.name.find(part) != entry.name.npos; });
}

// The n-th block to run. Shuffled blocks go in steps that share no factor with their count, so that each
// comes once.
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
