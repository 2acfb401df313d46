// Runs programs in several ways, also from a checkpoint or in another process, compares their visible state,
// and checks version bumps.
#pragma once

#include <ebb/autograd/variable.h>

#include "random_programs/program.h"

#include <sys/types.h>

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace programs {

/// A tensor identified by its name after a call, or a text.
struct TraceEntry {
  std::string label;
  ebb::Variable value;
  std::string text;
};
struct Trace {
  std::vector<TraceEntry> entries;
  std::int64_t replays = 0;
  bool resumed = false;
};

/// Describes the first difference of two traces; empty if they are bitwise equal.
std::string difference(const Trace& expected, const Trace& got);

/// Describes both values, or both texts.
std::string both(const TraceEntry& expected, const TraceEntry& got);

/// A hash of the trace.
std::uint64_t digest(const Trace& trace);

/// Writes labels, texts and elements for another process on the same machine.
void write(std::ostream& file, const Trace& trace);
/// Reads the output of write(); throws ebb::Error if the file ends early.
Trace read_trace(std::istream& file);

// Runs programs in another process whose library has selected other instructions.

/// A second process of this executable with EBB_ISA set, optionally in deterministic mode, that waits for
/// programs (`serve`).
class OtherProcess {
 public:
  OtherProcess(const std::string& isa, bool deterministic);
  ~OtherProcess();
  OtherProcess(const OtherProcess&) = delete;
  OtherProcess& operator=(const OtherProcess&) = delete;

  /// Returns the trace of a plain run in the other process. Throws ebb::Error if that process ends.
  Trace run(const Program& program);

 private:
  int to_ = -1, from_ = -1;
  pid_t child_ = -1;
};

/// Reads programs from the standard input, each as its length in a line and its text, runs them, and writes
/// traces to the standard output until the input ends.
void serve();

// Checks that writes bump the version.

/// Records the bytes and the version counters of the tensors of a state. Every statement that changes the
/// bytes of a tensor must bump its version, for graphs that saved the tensor. SGD steps are exempt.
class VersionWatch {
 public:
  /// Called after a statement; throws ebb::Error for a write without a version bump. Tensors above 16 KiB are
  /// skipped.
  void look(const State& state, const Statement& statement);

 private:
  struct Known {
    ebb::Ref<ebb::Storage> storage;  // kept alive, so that its address is not reused
    std::size_t hash = 0;
    std::uint32_t version = 0;
  };
  std::unordered_map<const ebb::Storage*, Known> known_;
};

// Continues a program from a checkpoint in the middle.

/// The state of a process that restarts after `calls` calls: it runs the setup and the acts that create new
/// arguments, and loads tensors, gradients, modules, optimizers and the random generator from files in
/// memory. Returns nothing if files cannot contain the state: graphs, hooks, gradients that share memory,
/// other geometry.
std::optional<State> resumed(const Program& program, const State& state, std::size_t calls);

/// Describes sizes, strides, flags, and which tensors share memory.
std::string geometry(const std::vector<Variable>& tensors);

// Runs programs in several ways and compares their visible state.

/// One way to run a program.
struct Way {
  const char* name;
  int threads = 1;
  bool compiled = false;   ///< the body is a compiled function
  bool disturbed = false;  ///< memory is allocated and freed between statements
  bool counted = false;    ///< a write without a version bump is an error
  bool resumed = false;    ///< from a checkpoint that is saved after the third call
  ebb::Device device = ebb::kCPU;
  std::uint64_t perturbed = 0;  ///< results are perturbed randomly from this seed; 0 means no perturbation
  bool slightly = false;        ///< these perturbations are sixteen times smaller
};

/// Ways that must give the same bits as the first one, which is the plain run.
const std::vector<Way>& ways();

Trace run(const Program& program, const Way& way);

/// How often programs were replayed and resumed.
struct Counts {
  std::int64_t replays = 0, resumed = 0;
};

/// Describes the first way in which the program differs from the plain run; empty if there is none.
std::string disagreement(const Program& program, Counts* counts = nullptr);

}  // namespace programs
