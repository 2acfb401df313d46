// Writes one line for each Catch2 case with the mutants that it reaches; for programs that register
// listeners.
#pragma once
#include "support/catch.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>

namespace {

#if EBB_CATCH_3
using EbbListenerBase = Catch::EventListenerBase;
#else
using EbbListenerBase = Catch::TestEventListenerBase;
#endif
[[maybe_unused]] std::string case_name(const Catch::TestCaseInfo& i) { return i.name; }
[[maybe_unused]] std::string case_name(const Catch::TestCaseInfo* i) { return i->name; }
struct EbbTrace : EbbListenerBase {
  static constexpr std::size_t kSize = 1 << 16;
  unsigned char* reached = nullptr;
  std::chrono::steady_clock::time_point begin;
  template <class... A>
  explicit EbbTrace(A&&... a) : EbbListenerBase(std::forward<A>(a)...) {
    const char* path = std::getenv("EBB_MUTANT_TRACE");
    const int file = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666) : -1;
    if (file < 0 || ftruncate(file, kSize)) return;
    void* map = mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (map != MAP_FAILED) reached = static_cast<unsigned char*>(map);
  }
  void write(const std::string& name, bool passed) {
    if (!reached) return;
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    std::ofstream out(std::getenv("EBB_MUTANT_TRACE") + std::string(".cases"), std::ios::app);
    out << name << '\t' << seconds << '\t' << passed << '\t';
    for (std::size_t i = 0; i < kSize; ++i)
      if (reached[i]) out << i << ' ', reached[i] = 0;
    out << '\n';
  }
  void testRunStarting(const Catch::TestRunInfo&) override {
    begin = std::chrono::steady_clock::now();
    write("", true);
  }
  void testCaseStarting(const Catch::TestCaseInfo&) override { begin = std::chrono::steady_clock::now(); }
  void testCaseEnded(const Catch::TestCaseStats& s) override {
    write(std::string(case_name(s.testInfo)),
          s.totals.assertions.failed == 0 && s.totals.testCases.failed == 0);
  }
};
CATCH_REGISTER_LISTENER(EbbTrace)
}  // namespace
