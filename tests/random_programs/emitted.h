// Programs whose bodies are emitted as sources and compiled together.
#pragma once

#include "random_programs/program.h"

#include <functional>
#include <string>
#include <tuple>
#include <vector>

namespace programs {

/// A program's body, called with fresh arguments only: nothing else changes between its calls.
class Calls {
 public:
  explicit Calls(Program program);
  /// Arguments of the next call, made anew each time they are asked for.
  ebb::variable_list arguments();
  /// The results of the body for them; the next call follows.
  ebb::variable_list operator()(const ebb::variable_list& arguments);

 private:
  Program program_;
  State state_;
  std::size_t call_ = 0;
};

/// An emitted program: its text, how many calls were made before it was emitted, and what makes the object
/// that was emitted of it, which reads its weights from a folder.
struct EmittedProgram {
  const char* text;
  int calls;
  std::function<ebb::variable_list(const ebb::variable_list&)> (*load)(const std::string& folder);
};

/// Writes as many programs as wanted into the folder: programs.cpp, which defines emitted_programs() and
/// includes what Compiled::emit wrote.
void emit_programs(const std::string& folder, std::uint64_t seed, int wanted);
/// Those that were written when the tests were built.
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
