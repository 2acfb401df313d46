// Runs the named programs, or all, and prints each report below a line with the name of the program.
#include "program.h"

#include <cstdio>
#include <string>
#include <vector>

namespace fidelity {

namespace {

struct Entry {
  std::string name;
  void (*run)();
};

std::vector<Entry>& entries() {
  static std::vector<Entry> all;
  return all;
}

std::string name_of_running;

bool run(const std::string& name) {
  bool found = false;
  for (const Entry& entry : entries()) {
    if (!name.empty() && entry.name != name) continue;
    name_of_running = entry.name;
    std::printf("=== %s\n", entry.name.c_str());
    entry.run();
    found = true;
  }
  return found;
}

}  // namespace

Program::Program(const char* name, void (*run)()) { entries().push_back({name, run}); }

const std::string& running() { return name_of_running; }

}  // namespace fidelity

int main(int argc, char** argv) {
  const std::vector<std::string> names(argv + 1, argv + argc);
  if (names.empty()) return fidelity::run("") ? 0 : 2;
  for (const std::string& name : names) {
    if (fidelity::run(name)) continue;
    std::fprintf(stderr, "there is no program %s\n", name.c_str());
    return 2;
  }
}
