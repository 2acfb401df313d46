// Programs whose bodies are emitted as sources and compiled together.
#pragma once

#include "random_programs/program.h"

#include <functional>
#include <string>
#include <tuple>
#include <vector>

namespace programs {

/// The body of a program, called with new arguments; nothing else changes between its calls.
class Calls {
 public:
  explicit Calls(Program program);
  /// The arguments of the next call, created anew each time.
  ebb::variable_list arguments();
  /// The results of the body for these arguments; advances to the next call.
  ebb::variable_list operator()(const ebb::variable_list& arguments);

 private:
  Program program_;
  State state_;
  std::size_t call_ = 0;
};

/// An emitted program: its text, the number of calls before the emission, and a function that creates the
/// emitted object, which reads its weights from a folder.
struct EmittedProgram {
  const char* text;
  int calls;
  std::function<ebb::variable_list(const ebb::variable_list&)> (*load)(const std::string& folder);
};

/// Writes `wanted` programs into the folder: programs.cpp, which defines emitted_programs() and includes the
/// sources from Compiled::emit.
void emit_programs(const std::string& folder, std::uint64_t seed, int wanted);
/// The programs that were written when the tests were built.
std::vector<EmittedProgram> emitted_programs();

/// The results of an emitted class as a list.
template <class F, class... Arguments>
ebb::variable_list results_of(F& f, const Arguments&... arguments) {
  using Result = decltype(f(arguments...));
  if constexpr (std::is_void_v<Result>)
    return f(arguments...), ebb::variable_list();
  else if constexpr (std::is_same_v<Result, ebb::Variable>)
    return {f(arguments...)};
  else
    return std::apply([](const auto&... each) { return ebb::variable_list{each...}; }, f(arguments...));
}

}  // namespace programs
