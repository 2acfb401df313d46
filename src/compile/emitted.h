// What the sources that Compiled::emit() writes are made of: the memory of their kernel calls, and their
// slots.
#pragma once

#include <ebb/autograd/variable.h>
#include <ebb/io/safetensors.h>

#include <atomic>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <vector>

// Emitted sources call every kernel slot, and name every formula: to include all of them costs a compiler a
// quarter of a second more than one of them.
#include "ops/attention/kernels.h"
#include "ops/common/draw_philox.h"
#include "ops/common/kernels.h"
#include "ops/common/scan.h"
#include "ops/conv/kernels.h"
#include "ops/creation/kernels.h"
#include "ops/elementwise/foreach_kernels.h"
#include "ops/elementwise/formulas/activations.h"
#include "ops/elementwise/formulas/arithmetic.h"
#include "ops/elementwise/formulas/binary_math.h"
#include "ops/elementwise/formulas/compare.h"
#include "ops/elementwise/formulas/division.h"
#include "ops/elementwise/formulas/exponential.h"
#include "ops/elementwise/formulas/extremes.h"
#include "ops/elementwise/formulas/logic.h"
#include "ops/elementwise/formulas/parts.h"
#include "ops/elementwise/formulas/piecewise.h"
#include "ops/elementwise/formulas/plane.h"
#include "ops/elementwise/formulas/power.h"
#include "ops/elementwise/formulas/predicate.h"
#include "ops/elementwise/formulas/rare.h"
#include "ops/elementwise/formulas/rounding.h"
#include "ops/elementwise/formulas/sign.h"
#include "ops/elementwise/formulas/smooth.h"
#include "ops/elementwise/formulas/special.h"
#include "ops/elementwise/formulas/special_functions.h"
#include "ops/elementwise/formulas/ternary.h"
#include "ops/elementwise/formulas/trigonometric.h"
#include "ops/elementwise/kernels.h"
#include "ops/index/kernels.h"
#include "ops/index/sort_kernels.h"
#include "ops/linalg/decomposition_kernels.h"
#include "ops/linalg/kernels.h"
#include "ops/loss/ctc.h"
#include "ops/loss/kernels.h"
#include "ops/norm/kernels.h"
#include "ops/pool/fractional.h"
#include "ops/pool/kernels.h"
#include "ops/pool/resample_kernels.h"
#include "ops/random/kernels.h"
#include "ops/reduce/kernels.h"
#include "ops/reduce/scan_kernels.h"
#include "ops/reduce/softmax_kernels.h"
#include "ops/rnn/kernels.h"
#include "ops/shape/kernels.h"

#if defined(__clang__)  // members of templates that the library has instantiated
#pragma clang diagnostic ignored "-Wundefined-var-template"
#endif

namespace ebb::emitted {

/// What the calls were recorded for; an undefined dtype stands for an undefined tensor.
struct Argument {
  DType dtype = DType::Undefined;
  DimVector sizes, strides;
  std::int64_t offset = 0;   ///< of its first element; what counts is the distance of those that share memory
  int shares = -1;           ///< the first argument on the same memory; -1: none before it
  std::uint32_t writes = 0;  ///< in place
};

/// Kernel calls and their memory. A class derived from it in an emitted source lists its arrays as members,
/// each on memory that one of the functions below gives, and makes the calls.
class EBB_API Plan {
 public:
  /// `name` is for messages; `weights` is a file of safetensors, looked into if there is a weight(). Where it
  /// was emitted, it has the source's `mark`: a file of other calls is an error.
  Plan(const char* name, const std::string& weights, std::uint64_t mark, std::size_t arena_bytes,
       std::vector<Argument> arguments);
  virtual ~Plan();
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  /// Checks the arguments, makes the calls on them, and gives the results, which are part of no graph.
  std::vector<Variable> call(const std::vector<Variable>& arguments);

 protected:
  virtual void run() = 0;
  virtual std::vector<Variable> results() = 0;

  /// The memory that the argument is on, whose like had so many bytes.
  Ref<Storage> argument(std::size_t which, std::size_t bytes);
  /// The tensor of that name in the file, of so many bytes.
  Ref<Storage> weight(const char* name, std::size_t bytes);
  /// Numbers as they lie in memory, eight bytes a word, the lowest first.
  Ref<Storage> constant(std::size_t bytes, std::initializer_list<std::uint64_t> words);
  /// The same memory, which calls write to: it gets the numbers that it has now before each run.
  Ref<Storage> refilled(Ref<Storage> memory);
  /// A part of the arena.
  Ref<Storage> arena(std::size_t at, std::size_t bytes);
  /// Memory that is handed out, and is the plan's again once nobody holds it.
  Ref<Storage> result(std::size_t bytes);

  /// A result: of memory that is handed out or an argument's as it is, else a copy.
  Variable given(const NdArray& array) const;

  NdArray none;  ///< in place of an array that a call does without

 private:
  struct Result {
    Ref<Storage> placeholder, memory;
  };
  struct Refill {
    Ref<Storage> memory, numbers;
  };
  void check(const std::vector<Variable>& arguments) const;
  void bring(const std::vector<Variable>& arguments);

  const char* name_;
  std::string path_;
  std::uint64_t mark_;
  optional<safetensors::Reader> file_;
  Ref<Storage> arena_;
  std::vector<Argument> wanted_;
  std::vector<Ref<Storage>> arguments_;  // stand-ins
  std::vector<Variable> now_;            // the arguments of the call that runs
  std::vector<Result> results_;
  std::vector<Refill> refills_;
  std::atomic_flag busy_;
};

/// A temporary in place of a variable: handles of arrays that a kernel writes to, or an answer nobody needs.
template <class T>
T& lvalue(T&& value) {
  return value;
}
/// An operand that is the number in an array without dimensions, as it is now.
inline ops::KeptOperand read(const NdArray& array) { return ops::KeptOperand(ops::Operand(Scalar(), array)); }
/// A formula's number, with the integer that it had beside its floating-point value.
inline ops::Number number(double floating, std::int64_t integer) {
  ops::Number made;
  made.floating = floating;
  made.integer = integer;
  return made;
}

}  // namespace ebb::emitted
