// Runs programs in several ways, also from a checkpoint, and compares what can be seen; watches that writes
// count.
#pragma once

#include "random_programs/program.h"
#include "random_programs/trace.h"

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

// Watches that writes are counted.

namespace programs {

/// Knows the bytes and the version counters of a state's tensors. Every statement that changes the bytes of a
/// tensor has to count that as a write, for the graphs that saved the tensor; but SGD's steps do not.
class VersionWatch {
 public:
  /// After the statement ran; throws ebb::Error for a write that no version counts. Tensors of more than
  /// 16 KiB are not looked at.
  void look(const State& state, const Statement& statement);

 private:
  struct Known {
    ebb::Ref<ebb::Storage> storage;  // kept, so that no other one takes its address
    std::size_t hash = 0;
    std::uint32_t version = 0;
  };
  std::unordered_map<const ebb::Storage*, Known> known_;
};

// Continues a program from a checkpoint that was saved half-way.

/// The state of a process that starts again after `calls` calls: it runs the setup and the acts that make
/// fresh arguments, and loads tensors, gradients, modules, optimizers and the random generator from files in
/// memory. Nothing where the state has more than files keep: graphs, hooks, gradients that share memory,
/// other geometry.
std::optional<State> resumed(const Program& program, const State& state, std::size_t calls);

/// Sizes, strides, flags, and who shares memory with whom.
std::string geometry(const std::vector<Variable>& tensors);

// Runs programs in several ways, and compares what can be seen.

/// One way to run a program.
struct Way {
  const char* name;
  int threads = 1;
  bool compiled = false;   ///< the body is a compiled function
  bool disturbed = false;  ///< other memory is handed out and returned between statements
  bool counted = false;    ///< a write that no version counts is an error
  bool resumed = false;    ///< from a checkpoint that is saved after the third call
  ebb::Device device = ebb::kCPU;
  std::uint64_t perturbed = 0;  ///< results are perturbed, by chance from this seed; 0: they are not
};

/// Those that give the same bits as the first, which is plain.
const std::vector<Way>& ways();

Trace run(const Program& program, const Way& way);

/// How often programs did what their way is for.
struct Counts {
  std::int64_t replays = 0, resumed = 0;
};

/// The first way in which the program gives something else than plainly, and the difference; empty if none.
std::string disagreement(const Program& program, Counts* counts = nullptr);

}  // namespace programs
