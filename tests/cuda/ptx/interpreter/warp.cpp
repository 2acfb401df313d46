// Runs a warp. Each lane has its own program counter: the lanes at the lowest position run until they meet
// others, branch or wait. Lanes do not run in lockstep, as on devices since compute capability 7.0.
#include "machine.h"

#include <algorithm>

namespace ebb::ptx {
namespace {

unsigned first_of(Lanes lanes) { return static_cast<unsigned>(std::countr_zero(lanes)); }

void set_places(Warp& warp, Lanes lanes, u32 place) {
  each_lane(lanes, [&](unsigned lane) { warp.at[lane] = place; });
}

// The positions of lanes in ascending order.
std::set<u32> places_of(const Warp& warp) {
  std::set<u32> places;
  each_lane(warp.alive, [&](unsigned lane) { places.insert(warp.at[lane]); });
  return places;
}

[[noreturn]] void report_deadlock(const Warp& warp) {
  std::string text = "The lanes of a warp wait at different places for ever:";
  const Entry& entry = warp.block->entry;
  for (const u32 place : places_of(warp)) {
    const Lanes lanes = warp.lanes_at(place);
    text += " " + std::to_string(std::popcount(lanes)) + " lanes (the first is " +
            std::to_string(first_of(lanes)) + ") at [" + entry.text_of(entry.code[place]) + "]";
  }
  warp.block->current_place = *places_of(warp).begin();
  warp.block->fail(Status::deadlock, text + ".", first_of(warp.alive));
}

// Called when all lanes wait. Returns whether some can continue.
bool wake(Warp& warp) {
  for (const u32 place : places_of(warp))
    if (warp.block->entry.code[place].flow == Flow::converge && converge(warp, place)) return true;
  return false;
}

// Lanes branch with a jump table.
void jump_by_table(Warp& warp, const Instruction& i, Lanes lanes) {
  const auto& table = warp.block->entry.tables[static_cast<std::size_t>(i.target)];
  each_lane(lanes, [&](unsigned lane) {
    const u32 number = warp.get<u32>(i.from[0], lane);
    if (number >= table.size())
      warp.block->fail(Status::launch_failure, "A jump beyond the end of its table.", lane);
    warp.at[lane] = static_cast<u32>(table[number]);
  });
}

// Executes an instruction that changes control flow, for the lanes of `group`, which are all at `place`.
void steer(Warp& warp, const Instruction& i, u32 place, Lanes group) {
  if (i.flow == Flow::converge) {
    set_places(warp, group, place);
    if (!converge(warp, place)) warp.waiting |= group & warp.lanes_at(place);
    return;
  }
  const Lanes taken = warp.guarded(i, group);
  set_places(warp, group & ~taken, place + 1);
  set_places(warp, taken, i.flow == Flow::branch ? static_cast<u32>(i.target) : place);
  if (i.flow == Flow::table) jump_by_table(warp, i, taken);
  if (i.flow == Flow::exit) warp.alive &= ~taken;
  if (i.flow == Flow::barrier) warp.waiting |= taken;
}

// Runs the lanes at the lowest position until they meet others or change control flow.
void advance(Warp& warp, Lanes runnable) {
  Block& block = *warp.block;
  u32 place = ~u32{0}, next_others = ~u32{0};
  each_lane(runnable, [&](unsigned lane) { place = std::min(place, warp.at[lane]); });
  Lanes group = 0;
  each_lane(warp.alive, [&](unsigned lane) {
    if (warp.at[lane] == place) group |= Lanes{1} << lane;
    if (warp.at[lane] > place) next_others = std::min(next_others, warp.at[lane]);
  });
  for (;; ++place) {
    if (place == next_others) return set_places(warp, group, place);
    const Instruction& i = block.entry.code[place];
    block.current_place = place;
    if (++block.steps > block.run.settings.most_steps)
      block.fail(Status::timeout, "The block does not end.", first_of(group));
    if (i.flow != Flow::next) return steer(warp, i, place, group);
    const Lanes lanes = warp.guarded(i, group);
    if (block.counts != nullptr) {
      ++block.counts->instructions;
      block.counts->lanes += static_cast<u64>(std::popcount(lanes));
    }
    if (lanes != 0) i.execute(warp, i, lanes);
  }
}

}  // namespace

Lanes Warp::lanes_at(u32 place) const {
  Lanes lanes = 0;
  each_lane(alive, [&](unsigned lane) {
    if (at[lane] == place) lanes |= Lanes{1} << lane;
  });
  return lanes;
}

Lanes Warp::guarded(const Instruction& instruction, Lanes lanes) const {
  if (instruction.guard == kNone) return lanes;
  Lanes holding = 0;
  each_lane(lanes, [&](unsigned lane) {
    if ((get<u8>(instruction.guard, lane) != 0) != instruction.guard_negated) holding |= Lanes{1} << lane;
  });
  return holding;
}

bool converge(Warp& warp, u32 place) {
  Block& block = *warp.block;
  const Instruction& i = block.entry.code[place];
  block.current_place = place;
  const Lanes here = warp.lanes_at(place), asking = warp.guarded(i, here), passing = here & ~asking;
  set_places(warp, passing, place + 1);
  warp.waiting &= ~passing;
  if (asking == 0) return true;
  const unsigned first = first_of(asking);
  const bool whole = i.members == kNone;
  const Lanes members = whole ? kAllLanes : warp.get<u32>(i.members, first);
  if ((members >> first & 1) == 0)
    block.fail(Status::launch_failure,
               "A lane executes a warp-wide instruction whose mask of members leaves it out.", first);
  Lanes agreeing = 0;
  each_lane(asking, [&](unsigned lane) {
    if (whole || warp.get<u32>(i.members, lane) == members) agreeing |= Lanes{1} << lane;
  });
  const Lanes needed = members & warp.alive;
  if ((agreeing & needed) != needed) return passing != 0;
  if (whole && needed != kAllLanes)
    block.find("A warp multiplies or loads matrices without some of its lanes, which have ended.", first);
  if (block.counts != nullptr) {
    ++block.counts->instructions;
    block.counts->lanes += static_cast<u64>(std::popcount(needed));
  }
  i.execute(warp, i, needed);
  set_places(warp, needed, place + 1);
  warp.waiting &= ~needed;
  return true;
}

void run_warp(Warp& warp) {
  warp.block->current = &warp;
  while (warp.alive != 0) {
    warp.waiting &= warp.alive;
    if (const Lanes runnable = warp.alive & ~warp.waiting; runnable != 0) {
      advance(warp, runnable);
    } else if (!wake(warp)) {
      const auto places = places_of(warp);
      if (places.size() > 1 || warp.block->entry.code[*places.begin()].flow != Flow::barrier)
        report_deadlock(warp);
      warp.arrived = warp.alive;
      return;
    }
  }
}

}  // namespace ebb::ptx
