// Reads which mutant is active, and records the reached mutants in a file that a program shares with its
// children.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>

namespace ebb::mutate {

// The variable that other sources declare as `extern const unsigned id` in this namespace; a precompiled
// header may have declared it here, too. It is set before all other variables are initialized, because their
// initializers may read it.
extern unsigned awake __asm__("_ZN3ebb6mutate2idE") __attribute__((visibility("default")));
unsigned awake = 0;
static unsigned char nowhere[1 << 16];
static unsigned char* reached = nowhere;
__attribute__((visibility("default"))) bool note(unsigned mutant) noexcept {
  if (!reached[mutant]) reached[mutant] = 1;
  return false;
}
__attribute__((constructor(101))) static void read_environment() {
  if (const char* text = std::getenv("EBB_MUTANT"))
    awake = static_cast<unsigned>(std::strtoul(text, nullptr, 10));
  const char* trace = std::getenv("EBB_MUTANT_TRACE");
  if (!trace) return;
  awake = ~0u;
  const int file = open(trace, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (file < 0 || ftruncate(file, sizeof nowhere)) return;
  void* map = mmap(nullptr, sizeof nowhere, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (map != MAP_FAILED) reached = static_cast<unsigned char*>(map);
}
}  // namespace ebb::mutate
