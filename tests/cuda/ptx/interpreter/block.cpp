// Runs a block: its warps in turn, from barrier to barrier.
#include "machine.h"

#include <algorithm>
#include <atomic>
#include <numeric>

namespace ebb::ptx {
namespace {

u64 value_of(const Block& block, const Warp& warp, unsigned lane, const Constant& constant) {
  const Extent& threads = block.grid.threads;
  const Extent& blocks = block.grid.blocks;
  const u32 thread = warp.index * 32 + lane, me = u32{1} << lane;
  switch (constant.special) {
    case Special::none:
      return constant.value;
    case Special::dynamic_shared:
      return block.shared.size() - block.grid.dynamic_shared + constant.value;
    case Special::tid_x:
      return thread % threads.x;
    case Special::tid_y:
      return thread / threads.x % threads.y;
    case Special::tid_z:
      return thread / (threads.x * threads.y);
    case Special::ntid_x:
      return threads.x;
    case Special::ntid_y:
      return threads.y;
    case Special::ntid_z:
      return threads.z;
    case Special::ctaid_x:
      return block.at.x;
    case Special::ctaid_y:
      return block.at.y;
    case Special::ctaid_z:
      return block.at.z;
    case Special::nctaid_x:
      return blocks.x;
    case Special::nctaid_y:
      return blocks.y;
    case Special::nctaid_z:
      return blocks.z;
    case Special::laneid:
      return lane;
    case Special::warpid:
      return warp.index;
    case Special::nwarpid:
      return block.warps.size();
    case Special::smid:
      return 0;
    case Special::nsmid:
      return 132;
    case Special::lanemask_eq:
      return me;
    case Special::lanemask_lt:
      return me - 1;
    case Special::lanemask_le:
      return (me - 1) | me;
    case Special::lanemask_gt:
      return ~((me - 1) | me);
    case Special::lanemask_ge:
      return ~(me - 1);
    case Special::dynamic_smem_size:
      return block.grid.dynamic_shared;
    case Special::total_smem_size:
      return block.shared.size();
    case Special::clock:
      return block.interval;
  }
  return 0;
}

void begin(Block& block) {
  const u32 threads = block.grid.threads.x * block.grid.threads.y * block.grid.threads.z;
  block.start = block.interval = next_interval();
  block.steps = 0;
  // Unwritten memory gets values that no program expects.
  std::fill(block.shared.begin(), block.shared.end(), static_cast<unsigned char>(0xcd));
  for (Warp& warp : block.warps) {
    const u32 left = threads - warp.index * 32;
    warp.alive = left >= 32 ? kAllLanes : (u32{1} << left) - 1;
    warp.waiting = warp.arrived = 0;
    warp.at.fill(0);
    for (const Constant& constant : block.entry.constants)
      for (unsigned lane = 0; lane < 32; ++lane)
        warp.put(constant.reg, lane, value_of(block, warp, lane, constant));
  }
}

const Instruction& barrier_of(const Warp& warp) {
  return warp.block->entry.code[warp.at[static_cast<std::size_t>(std::countr_zero(warp.arrived))]];
}

// The predicates of threads at a barrier, reduced.
struct Reduced {
  u32 count = 0, threads = 0;
  void add(const Warp& warp, const Instruction& i) {
    each_lane(warp.arrived,
              [&](unsigned lane) { count += (warp.get<u8>(i.from[1], lane) != 0) != i.negated ? 1 : 0; });
    threads += static_cast<u32>(std::popcount(warp.arrived));
  }
  u32 result(Join how) const {
    return how == Join::population ? count : how == Join::conjunction ? count == threads : count != 0;
  }
};

// All live threads wait at barriers: lets them continue.
void pass_barrier(Block& block) {
  Reduced reduced;
  const Warp* first = nullptr;
  const auto number = [](const Warp& warp) {
    return warp.get<u32>(barrier_of(warp).from[0], static_cast<unsigned>(std::countr_zero(warp.arrived)));
  };
  for (Warp& warp : block.warps) {
    if (warp.arrived == 0) continue;
    const unsigned lane = static_cast<unsigned>(std::countr_zero(warp.arrived));
    block.current = &warp;
    block.current_place = warp.at[lane];
    if (first == nullptr) first = &warp;
    if (number(warp) != number(*first))
      block.fail(Status::deadlock, "The warps of a block wait at different barriers.", lane);
    if (barrier_of(warp).join != Join::none) reduced.add(warp, barrier_of(warp));
  }
  for (Warp& warp : block.warps) {
    if (warp.arrived == 0) continue;
    const Instruction& i = barrier_of(warp);
    each_lane(warp.arrived, [&](unsigned lane) {
      if (i.join != Join::none) warp.put(i.to[0], lane, reduced.result(i.join));
      ++warp.at[lane];
    });
    warp.arrived = warp.waiting = 0;
  }
  block.interval = next_interval();
}

}  // namespace

u32 next_interval() {
  static std::atomic<u32> last{0};
  return ++last;
}

void run_block(Block& block) {
  begin(block);
  std::vector<std::size_t> turns(block.warps.size());
  std::iota(turns.begin(), turns.end(), std::size_t{0});
  if (block.run.settings.order == Order::reverse) std::reverse(turns.begin(), turns.end());
  for (bool waiting = true; waiting;) {
    if (block.run.settings.order == Order::shuffled)
      std::shuffle(turns.begin(), turns.end(), block.run.random);
    waiting = false;
    for (const std::size_t turn : turns) {
      Warp& warp = block.warps[turn];
      run_warp(warp);
      waiting |= warp.arrived != 0;
    }
    if (waiting) pass_barrier(block);
  }
}

void Block::find(const std::string& text, unsigned lane) {
  ++run.findings;
  const std::string kind = text.substr(0, text.find(':'));
  if (!run.reported.insert(kind.substr(0, 40) + entry.name + std::to_string(current_place)).second) return;
  std::array<char, 200> place;
  const unsigned thread = (current != nullptr ? current->index * 32 : 0) + lane;
  std::snprintf(place.data(), place.size(), "block (%u, %u, %u) of (%u, %u, %u), thread %u of (%u, %u, %u)",
                at.x, at.y, at.z, grid.blocks.x, grid.blocks.y, grid.blocks.z, thread, grid.threads.x,
                grid.threads.y, grid.threads.z);
  if (run.report) run.report({text, entry.name, place.data(), entry.text_of(entry.code[current_place])});
}

void Block::fail(Status status, const std::string& text, unsigned lane) {
  find(text, lane);
  throw Fault{status};
}

}  // namespace ebb::ptx
