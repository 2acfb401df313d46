// The state of a running grid: its block, the block's warps, and their registers.
#pragma once

#include "instruction.h"
#include "interpreter.h"
#include "program.h"

#include <array>
#include <bit>
#include <cstring>
#include <random>
#include <set>
#include <vector>

namespace ebb::ptx {

/// Ends a launch.
struct Fault {
  Status status;
};

struct Block;

struct Warp {
  Block* block = nullptr;
  unsigned index = 0;
  std::vector<u64> registers;        // 32 lanes of each
  std::vector<unsigned char> local;  // the local memory of 32 lanes, one after another
  std::array<u32, 32> at{};          // each lane's next instruction
  Lanes alive = 0;
  Lanes waiting = 0;  // for lanes of the warp, or at a barrier
  Lanes arrived = 0;  // at a barrier, with all lanes that are alive
  Lanes carry = 0;    // each lane's condition code
  u32 interval = 1;   // how many __syncwarp it has passed

  template <class T>
  T get(int reg, unsigned lane) const {
    T value;
    std::memcpy(&value, &registers[static_cast<std::size_t>(reg) * 32 + lane], sizeof value);
    return value;
  }
  /// Writes the value into the low bytes of the register and clears the rest.
  template <class T>
  void put(int reg, unsigned lane, T value) {
    u64 bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    registers[static_cast<std::size_t>(reg) * 32 + lane] = bits;
  }
  /// The lanes at an instruction that are alive.
  Lanes lanes_at(u32 place) const;
  /// Those of the lanes for which the instruction's guard holds.
  Lanes guarded(const Instruction& instruction, Lanes lanes) const;
};

/// Calls a function for each lane. Whole warps, the usual case, take the loop that the compiler can unroll.
template <class Body>
inline void each_lane(Lanes lanes, const Body& body) {
  if (lanes == kAllLanes) {
    for (unsigned lane = 0; lane < 32; ++lane) body(lane);
    return;
  }
  for (; lanes != 0; lanes &= lanes - 1) body(static_cast<unsigned>(std::countr_zero(lanes)));
}

/// All that outlives a block: what the interpreter was given, and what it counts.
struct Run {
  GlobalMemory* memory = nullptr;
  Settings settings;
  Report report;
  std::set<std::string> reported;
  long findings = 0;
  std::map<std::string, Counts> counts;
  std::minstd_rand random{7};
};

struct Block {
  Run& run;
  Entry& entry;
  Grid grid;
  Extent at;  // its place in the grid
  std::span<const std::byte> parameters;
  std::vector<Warp> warps;
  std::vector<unsigned char> shared;
  std::vector<ShadowByte> shadow;  // of shared memory
  u32 interval = 0, start = 0, launch_start = 0;
  bool global_races = true;
  bool padded = false;  // loads of shared memory may include elements that nobody wrote
  u64 steps = 0;
  const Warp* current = nullptr;  // what runs now, for findings
  u32 current_place = 0;
  Counts* counts = nullptr;             // null without a profile
  std::array<Allocation*, 4> recent{};  // allocations that were touched last

  Block(Run& run_, Entry& entry_, const Grid& grid_, std::span<const std::byte> parameters_)
      : run(run_), entry(entry_), grid(grid_), parameters(parameters_) {}

  /// Reports a fault of the current instruction. The text names the fault; it is reported once for an
  /// instruction.
  void find(const std::string& text, unsigned lane);
  /// The same for what ends the launch.
  [[noreturn]] void fail(Status status, const std::string& text, unsigned lane);
  Moment moment(const Warp& warp, unsigned lane) const {
    return {interval, warp.interval, start, launch_start, warp.index * 32 + lane};
  }
};

/// Generic addresses of shared and local memory and of parameters lie in windows that no device memory has.
constexpr u64 kSharedWindow = u64{1} << 60, kLocalWindow = u64{2} << 60, kParameterWindow = u64{3} << 60;
constexpr u64 kWindowBytes = u64{1} << 24;
/// The window of a state space; 0 for those whose addresses are generic ones.
constexpr u64 window_of(Space space) {
  return space == Space::shared      ? kSharedWindow
         : space == Space::local     ? kLocalWindow
         : space == Space::parameter ? kParameterWindow
                                     : 0;
}
/// The state space of a generic address, which becomes an address of that space.
inline Space space_of(u64& address) {
  for (const Space space : {Space::shared, Space::local, Space::parameter})
    if (address - window_of(space) < kWindowBytes) {
      address -= window_of(space);
      return space;
    }
  return Space::global;
}

/// The bytes of the host behind an address, for an access of `bytes` bytes by a lane. Checks alignment,
/// bounds, races, and that what is read was written.
unsigned char* resolve(Warp& warp, Space space, u64 address, unsigned bytes, unsigned lane, Access access);

/// The address in a lane's register plus the instruction's offset. Sums of 32 bits wrap around.
inline u64 address_of(const Warp& warp, const Instruction& i, unsigned lane) {
  const u64 address = warp.get<u64>(i.from[0], lane) + static_cast<u64>(i.immediate);
  return i.address_is_32 ? static_cast<u32>(address) : address;
}
/// Counts a warp's request for the profile, if there is one.
void count_request(const Warp& warp, const Instruction& instruction, Lanes lanes, unsigned bytes);

/// Executes an instruction of Flow::converge for the lanes that wait at it, if all of its members do.
bool converge(Warp& warp, u32 place);
/// Runs a warp until all its lanes have ended or wait at a barrier.
void run_warp(Warp& warp);
/// The number of the next interval of any block of this process. Shadows of memory keep such numbers.
u32 next_interval();
/// Runs the block to its end.
void run_block(Block& block);

}  // namespace ebb::ptx
