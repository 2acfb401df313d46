// A program as data that can be run, printed, saved and shrunk: statements over numbered slots.
#pragma once

#include <ebb/autograd/variable.h>
#include <ebb/nn/any_module.h>
#include <ebb/optim/optimizer.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

// A program as data: statements over numbered slots. It can be run, printed, saved and shrunk.

namespace programs {

/// The modes of a statement; they can be combined.
enum Mode : unsigned { kNoGrad = 1, kAutocast = 2, kCheckpointed = 4 };

/// One statement. Its kind (kinds.h) defines the meaning of its slots and numbers.
struct Statement {
  std::string kind{};
  std::string name{};  ///< the op, for kinds with several ops: a row of the op table, or a view
  std::vector<int> in{}, out{};
  std::vector<std::int64_t> numbers{};
  unsigned modes = 0;

  bool operator==(const Statement&) const = default;
};
using Statements = std::vector<Statement>;

/// A function of `arguments`, which may read and write the tensors of `setup`, and the acts of its caller
/// between calls. Slots of the setup persist; slots of the body last for one call.
struct Program {
  Statements setup, body;
  std::vector<Statements> between;  ///< acts before the calls 1, 2, ...; call 0 follows the setup
  std::vector<int> arguments;       ///< slots of the setup that are passed to the function
  std::vector<int> results;         ///< slots of tensors that the function returns
  int slots = 0, kept = 0;          ///< the number of slots, and of those that the setup creates

  bool operator==(const Program&) const = default;
  std::size_t size() const;
};

/// Writes one statement per line.
std::string to_text(const Program& program);
/// Parses the output of to_text; throws ebb::Error for invalid text.
Program from_text(const std::string& text);

// The slots of a running program.

using ebb::Variable;
using Sizes = std::vector<std::int64_t>;

/// A tensor, a module or an optimizer.
struct Slot {
  Variable tensor{};
  std::shared_ptr<ebb::nn::Module> module{};
  std::shared_ptr<ebb::optim::Optimizer> optimizer{};
  /// The index of the module in the models of kinds_modules.cpp.
  std::int64_t model = 0;
  /// Calls the module.
  std::function<Variable(const Variable&)> forward{};

  bool is_tensor() const { return tensor.defined(); }
};

struct State {
  std::vector<Slot> slots;
  /// The largest tensor that statements create. Tensors of large programs exceed one block of a fused loop,
  /// or the work of one thread.
  std::int64_t most_elements = 1024;

  explicit State(int count = 0) : slots(static_cast<std::size_t>(count)) {}
  /// The index of the current call of the body.
  std::int64_t call = 0;
  /// The slot that a statement wrote last, for the generator; -1 if none.
  int written = -1;
  /// Slots that are drawn more often.
  std::vector<int> focus{};

  bool is_large() const { return most_elements > 1024; }
  Slot& operator[](int i) { return slots[static_cast<std::size_t>(i)]; }
  const Slot& operator[](int i) const { return slots[static_cast<std::size_t>(i)]; }
  const Variable& tensor(int i) const { return (*this)[i].tensor; }
  /// Throws ebb::Error if the slot has none, which happens in shrunk programs.
  ebb::nn::Module& module(int i) const;
  ebb::optim::Optimizer& optimizer(int i) const;
};

/// The memory layout of a created tensor.
enum Layout : std::int64_t { kWhole, kTransposed, kStepped, kOffset, kExpanded, kLayouts };

/// The device on which programs of this thread create their tensors and modules.
ebb::Device home();
/// Changes the home device in a scope.
class Home {
 public:
  explicit Home(ebb::Device device);
  ~Home();
  Home(const Home&) = delete;
  Home& operator=(const Home&) = delete;

 private:
  ebb::Device before_;
};

/// Returns values with few bits that depend only on the arguments, are exact in every floating dtype, and are
/// the same in other frameworks: element i is ((37 i + 11 seed) mod 101 - 50) / 32, or for integers mod 5.
Variable make(const Sizes& sizes, ebb::DType dtype, std::int64_t seed, Layout layout = kWhole);

/// Returns elements of x, repeated or dropped to get the shape, and mapped into [low, high] by a sine. It is
/// differentiable.
Variable fit(const Variable& x, const Sizes& sizes, double low, double high, ebb::DType dtype);

}  // namespace programs
