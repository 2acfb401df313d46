// libFuzzer entry point: the fuzzed bytes are the choices of the program generator.
#include "random_programs/generate.h"
#include "random_programs/kinds.h"
#include "random_programs/ways.h"

#include <cstdlib>
#include <iostream>

extern "C" [[gnu::visibility("default")]] int LLVMFuzzerTestOneInput(const std::uint8_t* bytes,
                                                                     std::size_t count) {
  programs::Draw draw(bytes, count);
  const programs::Program program = programs::generate(draw, {.least = 1});
  const std::string found = programs::disagreement(program);
  if (found.empty() || programs::known_fault(program)) return 0;
  std::cerr << found << "\n" << source(program, programs::Language::cpp) << to_text(program);
  std::abort();
}
