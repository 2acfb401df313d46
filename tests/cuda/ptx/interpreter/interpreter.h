// An interpreter of PTX, the virtual machine code that nvcc generates for kernels. It runs a grid on the CPU,
// warp by warp, and reports errors that a GPU does not report: accesses outside allocations, misaligned
// accesses, reads of unwritten memory, data races in shared and global memory, barriers that not all threads
// reach, and warp-wide instructions with missing lanes. Source of the semantics: "Parallel Thread Execution
// ISA", version 9.0, by NVIDIA.
#pragma once

#include "global_memory.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ebb::ptx {

/// Counts for one entry over all its launches.
struct Counts {
  std::uint64_t launches = 0;
  std::uint64_t instructions = 0;     // of warps
  std::uint64_t lanes = 0;            // active lanes of all these instructions
  std::uint64_t global_requests = 0;  // of warps
  std::uint64_t sectors = 0;          // 32-byte sectors that the requests access
  std::uint64_t least_sectors = 0;    // the minimum for the same bytes
  std::uint64_t shared_requests = 0;
  std::uint64_t passes = 0;        // over the banks of shared memory
  std::uint64_t least_passes = 0;  // without bank conflicts
  std::uint64_t local_requests = 0;
  std::uint64_t atomics = 0;  // of lanes
};

/// Counts a global memory request of a warp: `bytes` at each of the `lanes` addresses.
void count_global(Counts& counts, const std::uint64_t* addresses, std::uint32_t lanes, unsigned bytes);
/// The same for shared memory: 32 banks of 4 bytes.
void count_shared(Counts& counts, const std::uint64_t* addresses, std::uint32_t lanes, unsigned bytes);

/// A table of the counts with a title line and one line for each entry; columns are separated by tabs.
std::string profile_table(const std::map<std::string, Counts>& counts);

class Module;
struct Entry;

/// Reads a program. Bodies of entries are decoded on first use. Throws std::runtime_error for invalid PTX.
std::shared_ptr<Module> load(std::string text);
/// The entry of that name, or null. It lives as long as its module.
Entry* find_entry(Module& module, std::string_view name);
std::vector<std::string> entry_names(const Module& module);

/// A parameter of an entry: its offset in the parameter block.
struct Parameter {
  unsigned offset = 0, bytes = 0;
};
const std::vector<Parameter>& parameters(const Entry& entry);
/// Bytes of shared memory that the entry declares, without dynamic ones.
std::size_t static_shared_bytes(Entry& entry);
/// The maximum threads of a block by the launch bounds (1024 without them).
unsigned most_threads(const Entry& entry);
/// The instructions of the entry that the interpreter does not support, with their counts.
std::map<std::string, long> unknown_instructions(Entry& entry);

struct Extent {
  unsigned x = 1, y = 1, z = 1;
};
struct Grid {
  Extent blocks, threads;
  std::size_t dynamic_shared = 0;  // bytes
};

/// The result of a launch. The values are those of cudaError_t.
enum class Status {
  success = 0,
  invalid_configuration = 9,
  illegal_address = 700,
  timeout = 702,
  misaligned_address = 716,
  launch_failure = 719,
  deadlock = 720,
};

/// A fault that the interpreter detected.
struct Finding {
  std::string text;         // a sentence
  std::string entry;        // mangled name
  std::string place;        // block, thread, grid
  std::string instruction;  // PTX
};
using Report = std::function<void(const Finding&)>;

/// The order of the warps of a block between two barriers, and of blocks.
enum class Order { forward, reverse, shuffled };

struct Settings {
  Order order = Order::forward;
  bool shared_races = true;  // between warps and, without __syncwarp, inside a warp
  bool profile = false;      // counts events that determine speed
  /// Entries whose names contain one of these have no race detection in global memory.
  std::vector<std::string> unordered_entries;
  /// Entries whose vector loads of shared memory may include unwritten elements: the ends of padded rows.
  std::vector<std::string> padded_entries;
  /// The number of warp instructions after which a block counts as endless.
  std::uint64_t most_steps = 2'000'000'000;
};

class Interpreter {
 public:
  /// Each finding is reported once for each entry and instruction.
  Interpreter(GlobalMemory& memory, Settings settings, Report report);
  ~Interpreter();

  /// Runs a grid to its end, or to the first fault that breaks a device. `values` are the parameters with the
  /// layout of parameters(). One grid runs at a time; other threads wait.
  Status run(Entry& entry, const Grid& grid, std::span<const std::byte> values);

  /// The number of faults so far, including repetitions.
  long findings() const;
  /// Counts of each entry that ran; empty without Settings::profile.
  std::map<std::string, Counts> profile() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The reason why no device would accept the launch: limits of grid, block, launch bounds and shared memory
/// (of compute capability 9.0). Empty if it is valid.
std::string refusal(Entry& entry, const Grid& grid);

}  // namespace ebb::ptx
