// The state of a running grid: its block, the warps of the block, and their registers.
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
  std::array<u32, 32> at{};          // the next instruction of each lane
  Lanes alive = 0;
  Lanes waiting = 0;  // lanes that wait for other lanes of the warp, or at a barrier
  Lanes arrived = 0;  // lanes at a barrier that all live lanes have reached
  Lanes carry = 0;    // the condition code of each lane
  u32 interval = 1;   // 1 + the number of __syncwarp that it has passed

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
  /// The live lanes at an instruction.
  Lanes lanes_at(u32 place) const;
  /// The lanes for which the guard of the instruction is true.
  Lanes guarded(const Instruction& instruction, Lanes lanes) const;
};

/// Calls a function for each lane. Full warps, the common case, use a loop that the compiler can unroll.
template <class Body>
inline void each_lane(Lanes lanes, const Body& body) {
  if (lanes == kAllLanes) {
    for (unsigned lane = 0; lane < 32; ++lane) body(lane);
    return;
  }
  for (; lanes != 0; lanes &= lanes - 1) body(static_cast<unsigned>(std::countr_zero(lanes)));
}

/// State that outlives a block: the inputs of the interpreter, and its counts.
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
  Extent at;  // its index in the grid
  std::span<const std::byte> parameters;
  std::vector<Warp> warps;
  std::vector<unsigned char> shared;
  std::vector<ShadowByte> shadow;  // of shared memory
  u32 interval = 0, start = 0, launch_start = 0;
  bool global_races = true;
  bool padded = false;  // loads of shared memory may include unwritten elements
  u64 steps = 0;
  const Warp* current = nullptr;  // the running warp, for findings
  u32 current_place = 0;
  Counts* counts = nullptr;             // null without a profile
  std::array<Allocation*, 4> recent{};  // the allocations that were accessed last

  Block(Run& run_, Entry& entry_, const Grid& grid_, std::span<const std::byte> parameters_)
      : run(run_), entry(entry_), grid(grid_), parameters(parameters_) {}

  /// Reports a fault of the current instruction, once for each instruction. The text names the fault.
  void find(const std::string& text, unsigned lane);
  /// The same for a fault that ends the launch.
  [[noreturn]] void fail(Status status, const std::string& text, unsigned lane);
  Moment moment(const Warp& warp, unsigned lane) const {
    return {interval, warp.interval, start, launch_start, warp.index * 32 + lane};
  }
};

/// Generic addresses of shared and local memory and of parameters are in windows that no device memory uses.
constexpr u64 kSharedWindow = u64{1} << 60, kLocalWindow = u64{2} << 60, kParameterWindow = u64{3} << 60;
constexpr u64 kWindowBytes = u64{1} << 24;
/// The window of a state space; 0 for spaces whose addresses are generic.
constexpr u64 window_of(Space space) {
  return space == Space::shared      ? kSharedWindow
         : space == Space::local     ? kLocalWindow
         : space == Space::parameter ? kParameterWindow
                                     : 0;
}
/// The state space of a generic address, which is converted to an address of that space.
inline Space space_of(u64& address) {
  for (const Space space : {Space::shared, Space::local, Space::parameter})
    if (address - window_of(space) < kWindowBytes) {
      address -= window_of(space);
      return space;
    }
  return Space::global;
}

/// The host bytes of an address for an access of `bytes` bytes by a lane. Checks alignment, bounds, races,
/// and that read bytes were written.
unsigned char* resolve(Warp& warp, Space space, u64 address, unsigned bytes, unsigned lane, Access access);

/// The address in the register of a lane plus the offset of the instruction. 32-bit sums wrap around.
inline u64 address_of(const Warp& warp, const Instruction& i, unsigned lane) {
  const u64 address = warp.get<u64>(i.from[0], lane) + static_cast<u64>(i.immediate);
  return i.address_is_32 ? static_cast<u32>(address) : address;
}
/// Counts a request of a warp for the profile, if there is one.
void count_request(const Warp& warp, const Instruction& instruction, Lanes lanes, unsigned bytes);

/// Executes an instruction of Flow::converge for the waiting lanes, if all of its members wait.
bool converge(Warp& warp, u32 place);
/// Runs a warp until all its lanes have exited or wait at a barrier.
void run_warp(Warp& warp);
/// Returns the number of the next interval, unique in the process. Shadow memory stores such numbers.
u32 next_interval();
/// Runs the block to its end.
void run_block(Block& block);

}  // namespace ebb::ptx
