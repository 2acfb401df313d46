// Programs whose bodies are emitted as sources and compiled together.
#include "random_programs/emitted.h"

#include <ebb/compile.h>
#include <ebb/core/error.h>

#include "random_programs/generate.h"
#include "random_programs/kinds.h"
#include "support/scopes.h"

#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>

namespace programs {
namespace {

// Statements that prevent emission: accumulated gradients, random numbers, optimizer steps.
bool may_be_emitted(Statement& s) {
  static const std::set<std::string> kinds = {"backward", "flag",   "function", "grad_of",
                                              "hook",     "random", "step"};
  return !kinds.contains(s.kind) && !(s.modes & kCheckpointed);
}

std::string name_of(int index) { return "program_" + std::to_string(index); }

// Emits the program of the seed. Returns the number of calls made before, or nothing if it cannot be emitted.
std::optional<int> emit_one(const Program& program, const std::string& path) {
  try {
    Calls calls(program);
    auto compiled = ebb::compile([&](const ebb::variable_list& arguments) { return calls(arguments); });
    for (int made = 1; made <= 3; ++made) {
      compiled(calls.arguments());
      if (!compiled.report().replayed) continue;
      compiled.emit(path);
      return made;
    }
  } catch (const ebb::Error&) {
    return {};
  }
  return {};
}

void append_entry(std::ostream& list, const std::string& folder, const Program& program, int index,
                  int calls) {
  const std::string name = name_of(index), type = "Program" + std::to_string(index);
  const bool has_weights = std::filesystem::exists(folder + "/" + name + ".safetensors");
  std::string arguments;
  for (std::size_t i = 0; i < program.arguments.size(); ++i) arguments += ", x[" + std::to_string(i) + "]";
  list << "    {R\"(" << to_text(program) << ")\", " << calls << ",\n     [](const std::string&"
       << (has_weights ? " folder" : "") << ") {\n"
       << "       auto f = std::make_shared<" << type << ">("
       << (has_weights ? "folder + \"/" + name + ".safetensors\"" : "") << ");\n"
       << "       return std::function([f](const ebb::variable_list& x) { return results_of(*f" << arguments
       << "); });\n     }},\n";
}

}  // namespace

Calls::Calls(Program program) : program_(std::move(program)), state_(set_up(program_)) {}

ebb::variable_list Calls::arguments() {
  if (call_ > 0)
    for (const Statement& s : program_.between[call_ - 1])
      if (s.name == "fresh") run(state_, s);
  ebb::variable_list arguments;
  for (const int i : program_.arguments) arguments.push_back(state_.tensor(i));
  return arguments;
}

ebb::variable_list Calls::operator()(const ebb::variable_list& arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) state_[program_.arguments[i]].tensor = arguments[i];
  for (const Statement& s : program_.body) run(state_, s);
  ebb::variable_list results;
  for (const int i : program_.results) results.push_back(state_.tensor(i).detach());
  for (int i = program_.kept; i < program_.slots; ++i) state_[i] = Slot();
  ++call_;
  return results;
}

void emit_programs(const std::string& folder, std::uint64_t seed, int wanted) {
  const support::Warnings dropped;
  std::ostringstream includes, list;
  int made = 0;
  for (; made < wanted; ++seed) {
    Draw draw(seed);
    const Program program = generate(draw, {.adapt = may_be_emitted});
    const std::string path = folder + "/" + name_of(made) + ".cpp";
    std::filesystem::remove(folder + "/" + name_of(made) + ".safetensors");
    const std::optional<int> calls = emit_one(program, path);
    if (!calls) continue;
    // Each emitted source gets its own name for the class.
    includes << "#define Calls Calls" << made << "\n#include \"" << name_of(made) << ".cpp\"\n#undef Calls\n";
    append_entry(list, folder, program, made, *calls);
    ++made;
  }
  std::ofstream file(folder + "/programs.cpp");
  file << "// Random programs that were emitted. Written by each build.\n"
       << includes.str() << "\n#include \"random_programs/emitted.h\"\n\nnamespace programs {\n\n"
       << "std::vector<EmittedProgram> emitted_programs() {\n  return {\n"
       << list.str() << "  };\n}\n\n}  // namespace programs\n";
}

}  // namespace programs
