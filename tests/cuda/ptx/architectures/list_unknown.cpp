// Prints the instructions of PTX files that the interpreter does not support. Exits with 1 if there are any.
#include "cuda/ptx/interpreter/interpreter.h"

#include <cstdio>
#include <exception>
#include <fstream>
#include <map>
#include <sstream>

namespace {

std::string text_of(const char* path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

int main(int count, char** paths) {
  long entries = 0;
  std::map<std::string, long> unknown;
  for (int n = 1; n < count; ++n) {
    try {
      const auto module = ebb::ptx::load(text_of(paths[n]));
      for (const std::string& name : ebb::ptx::entry_names(*module)) {
        ++entries;
        for (const auto& [text, times] : ebb::ptx::unknown_instructions(*ebb::ptx::find_entry(*module, name)))
          unknown[text] += times;
      }
    } catch (const std::exception& error) {
      ++unknown[std::string(paths[n]) + ": " + error.what()];
    }
  }
  std::printf("%ld entries, %zu kinds of unknown instructions\n", entries, unknown.size());
  for (const auto& [text, times] : unknown) std::printf("%8ld  %s\n", times, text.c_str());
  return entries > 0 && unknown.empty() ? 0 : 1;
}
