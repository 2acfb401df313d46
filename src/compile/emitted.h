// The runtime of sources that Compiled::emit() writes: the memory of their calls, and all kernel slots.
#pragma once

#include <ebb/autograd/variable.h>
#include <ebb/io/safetensors.h>

#include <atomic>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <vector>

// An emitted source may call any kernel slot and name any formula. All of them are included here, because
// this takes a compiler only a quarter of a second longer than to include one.
#include "ops/attention/kernels.h"
#include "ops/common/dropout.h"
#include "ops/common/kernels.h"
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
#include "ops/elementwise/formulas/power.h"
#include "ops/elementwise/formulas/predicate.h"
#include "ops/elementwise/formulas/rare.h"
#include "ops/elementwise/formulas/sign_and_rounding.h"
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
#include "ops/reduce/softmax_kernels.h"
#include "ops/rnn/kernels.h"
#include "ops/shape/kernels.h"

#if defined(__clang__)  // the library instantiates the members of these templates
#pragma clang diagnostic ignored "-Wundefined-var-template"
#endif

namespace ebb::emitted {

/// An argument as it was recorded. An undefined dtype means an undefined tensor.
struct Argument {
  DType dtype = DType::Undefined;
  DimVector sizes, strides;
  std::int64_t offset = 0;   ///< the offset of its first element, compared among arguments that share memory
  int shares = -1;           ///< the first earlier argument on the same memory, or -1
  std::uint32_t writes = 0;  ///< the number of in-place writes to the argument
};

/// The base class of emitted sources. A derived class has the arrays as members, in memory from the functions
/// below. Its run() makes the kernel calls.
class EBB_API Plan {
 public:
  /// `name` is for messages. `weights` is a safetensors file, which is opened if weight() is called. An
  /// emitted file contains the mark of its source; if that mark differs from `mark`, weight() throws.
  Plan(const char* name, const std::string& weights, std::uint64_t mark, std::size_t arena_bytes,
       std::vector<Argument> arguments);
  virtual ~Plan();
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  /// Checks the arguments, runs the calls on them, and returns the results, which are not part of a graph.
  std::vector<Variable> call(const std::vector<Variable>& arguments);

 protected:
  virtual void run() = 0;
  virtual std::vector<Variable> results() = 0;

  /// Returns the memory of an argument, which had this number of bytes when it was recorded.
  Ref<Storage> argument(std::size_t which, std::size_t bytes);
  /// Returns the memory of a tensor in the file, which must have this number of bytes.
  Ref<Storage> weight(const char* name, std::size_t bytes);
  /// Returns memory with these contents, given as words of eight bytes, the lowest byte first.
  Ref<Storage> constant(std::size_t bytes, std::initializer_list<std::uint64_t> words);
  /// Returns the memory, and marks it to be reset to its current contents before each run. Calls may then
  /// write to it.
  Ref<Storage> refilled(Ref<Storage> memory);
  /// Returns a part of the arena.
  Ref<Storage> arena(std::size_t offset, std::size_t bytes);
  /// Returns the memory of a result, which is reused after the caller has released it.
  Ref<Storage> result(std::size_t bytes);

  /// Returns the array as a result: without a copy if it is in the memory of a result or an argument,
  /// otherwise a copy.
  Variable given(const NdArray& array) const;

  NdArray none;  ///< an undefined array, for calls without an optional array

 private:
  struct Result {
    Ref<Storage> placeholder, memory;
  };
  struct Refill {
    Ref<Storage> memory, numbers;
  };
  void check(const std::vector<Variable>& arguments) const;
  void bind_memory(const std::vector<Variable>& arguments);

  const char* name_;
  std::string path_;
  std::uint64_t mark_;
  optional<safetensors::Reader> file_;
  Ref<Storage> arena_;
  std::vector<Argument> wanted_;
  std::vector<Ref<Storage>> arguments_;  // placeholders
  std::vector<Variable> now_;            // the arguments of the current call
  std::vector<Result> results_;
  std::vector<Refill> refills_;
  std::atomic_flag busy_;
};

/// Passes a temporary as an lvalue, for example the handles of arrays that a kernel writes to, or an unused
/// result.
template <class T>
T& lvalue(T&& value) {
  return value;
}
/// Returns an operand that is read from an array without dimensions when the call runs.
inline ops::KeptOperand read(const NdArray& array) { return ops::KeptOperand(ops::Operand(Scalar(), array)); }
/// Returns a scalar of a formula, given as a floating-point value and as an integer.
inline ops::Number number(double floating, std::int64_t integer) {
  ops::Number made;
  made.floating = floating;
  made.integer = integer;
  return made;
}

}  // namespace ebb::emitted
