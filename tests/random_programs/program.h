// A program as data, which can be run, printed, saved and made smaller: statements over numbered slots.
#pragma once

#include <ebb/autograd/variable.h>
#include <ebb/nn/any_module.h>
#include <ebb/optim/optimizer.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

// A program as data: statements over numbered slots. It can be run, printed, saved and made smaller.

namespace programs {

/// In which modes a statement runs; they combine.
enum Mode : unsigned { kNoGrad = 1, kAutocast = 2, kCheckpointed = 4 };

/// One step. Its kind (kinds.h) says which slots and numbers it has.
struct Statement {
  std::string kind{};
  std::string name{};  ///< the op of a kind that has several: a row of the op table, a view
  std::vector<int> in{}, out{};
  std::vector<std::int64_t> numbers{};
  unsigned modes = 0;

  bool operator==(const Statement&) const = default;
};
using Statements = std::vector<Statement>;

/// A function of `arguments`, which may read and write what `setup` made, and the acts of its caller between
/// calls. Slots that setup makes are kept; those that the body makes last for one call.
struct Program {
  Statements setup, body;
  std::vector<Statements> between;  ///< before the calls 1, 2, ...; call 0 follows the setup
  std::vector<int> arguments;       ///< slots of the setup that are passed to the function
  std::vector<int> results;         ///< slots of tensors that the function returns
  int slots = 0, kept = 0;          ///< how many there are, and how many of them the setup makes

  bool operator==(const Program&) const = default;
  std::size_t size() const;
};

/// A statement a line.
std::string to_text(const Program& program);
/// The reverse; throws ebb::Error for text that is no program.
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
  /// The largest tensor that statements make. Those of large programs are more than one block of a fused
  /// loop, or more than one thread's work.
  std::int64_t most_elements = 1024;

  explicit State(int count = 0) : slots(static_cast<std::size_t>(count)) {}
  /// The call of the body that runs, from 0.
  std::int64_t call = 0;
  /// The slot that a statement wrote to last, for the generator; -1 where none did.
  int written = -1;
  /// Slots that are drawn more often.
  std::vector<int> focus{};

  bool is_large() const { return most_elements > 1024; }
  Slot& operator[](int i) { return slots[static_cast<std::size_t>(i)]; }
  const Slot& operator[](int i) const { return slots[static_cast<std::size_t>(i)]; }
  const Variable& tensor(int i) const { return (*this)[i].tensor; }
  /// Throw ebb::Error where the slot has none, which happens in programs that are made smaller.
  ebb::nn::Module& module(int i) const;
  ebb::optim::Optimizer& optimizer(int i) const;
};

/// How the elements of a made tensor lie in memory.
enum Layout : std::int64_t { kWhole, kTransposed, kStepped, kOffset, kExpanded, kLayouts };

/// The device on which programs of this thread make their tensors and modules.
ebb::Device home();
/// Another home, for a scope.
class Home {
 public:
  explicit Home(ebb::Device device);
  ~Home();
  Home(const Home&) = delete;
  Home& operator=(const Home&) = delete;

 private:
  ebb::Device before_;
};

/// Numbers of few bits that depend on nothing but the arguments, exact in every floating dtype and the same
/// in other frameworks: element i is ((37 i + 11 seed) mod 101 - 50) / 32, or for integers mod 5.
Variable make(const Sizes& sizes, ebb::DType dtype, std::int64_t seed, Layout layout = kWhole);

/// Elements of x, repeated or left out, in that shape and mapped into [low, high] by a sine; differentiable.
Variable fit(const Variable& x, const Sizes& sizes, double low, double high, ebb::DType dtype);

}  // namespace programs
