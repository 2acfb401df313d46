// Kernel selection by processor: EBB_ISA, which the library reads when it is loaded, and kernel slots, which
// have a kernel for every ISA level.
#include <ebb/core/isa.h>

#include "support/all_slots.h"
#include "support/catch.h"

#include <unistd.h>

#include <cstdio>
#include <set>
#include <string>

namespace {

// The output of a child process of this program with this EBB_ISA, before the name of the first test.
std::string said(const std::string& asked) {
  char path[4096] = {};
  REQUIRE(::readlink("/proc/self/exe", path, sizeof path - 1) > 0);
  const std::string command = "EBB_ISA='" + asked + "' '" + path + "' --list-test-names-only 2>&1 >/dev/null";
  std::FILE* const pipe = ::popen(command.c_str(), "r");
  REQUIRE(pipe);
  std::string text;
  for (int c; (c = std::fgetc(pipe)) != EOF;) text += static_cast<char>(c);
  ::pclose(pipe);
  return text;
}

}  // namespace

TEST_CASE("the warning for an unknown EBB_ISA level lists the available levels and names the best level") {
  const std::string text = said("mmx"), runs = ", and this processor runs ", on = " of them. Using ";
  INFO(text);
  REQUIRE(text.starts_with("Warning: EBB_ISA=mmx is not available: this library has kernels for "));
  const std::size_t first = text.find(runs) + runs.size(), end = text.find(on);
  REQUIRE((first < end && end != text.npos));
  const std::string levels = text.substr(first, end - first), best = text.substr(end + on.size());
  CHECK(best == levels.substr(levels.rfind(' ') + 1) + ".\n");
  CHECK(levels.find(levels.substr(0, levels.find(',')), 1) == levels.npos);  // no level is listed twice
}

TEST_CASE("an available or empty EBB_ISA level does not warn") {
  CHECK(said(std::string(ebb::cpu_isa())).empty());
  CHECK(said("").empty());
}

TEST_CASE("every kernel slot has a separate kernel for each ISA level") {
  const std::vector<ebb::testing::Named> slots = ebb::testing::all_slots();
  CHECK(slots.size() > 200);
  std::set<void (*)()> kernels;
  std::size_t declining = 0;
  for (const ebb::testing::Named& s : slots) {
    INFO(s.symbol);
    REQUIRE(s.slot != nullptr);
    const bool declines = ebb::testing::may_decline(*s.slot);
    declining += declines;
    for (const auto kernel : s.slot->cpu) {
      REQUIRE((kernel == nullptr) == declines);
      if (kernel) kernels.insert(kernel);
    }
  }
  CHECK(declining == 3);
  CHECK(kernels.size() == (EBB_TEST_DISPATCH ? 3 : 1) * (slots.size() - declining));
}

TEST_CASE(
    "deterministic mode lowers the ISA level from AVX-512 to AVX2 and restores the best level when it ends") {
  const std::string_view best = ebb::cpu_isa();
  ebb::use_deterministic_algorithms(true);
  if (EBB_TEST_DISPATCH)
    CHECK(ebb::cpu_isa() == (best == "avx512" ? "avx2" : best));
  else
    CHECK(ebb::cpu_isa() == best);
  ebb::use_deterministic_algorithms(false);
  CHECK(ebb::cpu_isa() == best);
}
