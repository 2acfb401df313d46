// Prints programs as source.
#include "random_programs/print.h"

namespace programs {
namespace {

void append(std::string& all, const Statements& statements, Language language, const char* indent) {
  for (const Statement& s : statements) all += indent + text(s, language) + "\n";
}

std::string joined(const std::vector<int>& slots, const char* before) {
  std::string all;
  for (std::size_t i = 0; i < slots.size(); ++i) all += (i ? ", " : "") + (before + slot_text(slots[i]));
  return all;
}

}  // namespace

std::string source(const Program& program, Language language) {
  const bool cpp = language == Language::cpp;
  std::string all;
  append(all, program.setup, language, "");
  if (cpp) {
    all += "auto f = [&](" + joined(program.arguments, "Tensor ") + ") {\n";
  } else {
    all += "def f(" + joined(program.arguments, "") + "):\n";
  }
  append(all, program.body, language, "  ");
  all += (cpp ? "  return list(" : "  return [") + joined(program.results, "") + (cpp ? ");\n};\n" : "]\n");
  const std::string call = "call(f, " + joined(program.arguments, "") + (cpp ? ");\n" : ")\n");
  all += call;
  for (const Statements& between : program.between) {
    append(all, between, language, "");
    all += call;
  }
  return all;
}

}  // namespace programs
