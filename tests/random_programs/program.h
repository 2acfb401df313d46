// A program as data: statements over numbered slots. It can be run, printed, saved and made smaller.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

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

}  // namespace programs
