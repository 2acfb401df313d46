"""Writes mutants into a source, each asleep until the environment variable EBB_MUTANT names it."""


def chosen(mutant):
    return f"::ebb::mutate::chosen({mutant.number})"


def on_one_line(code):
    """Code without the ends of its lines, so that all lines keep their numbers."""
    out = []
    for line in code.split("\n"):
        comment = line.find("//")
        while comment > 0 and line[:comment].count('"') % 2:  # within a string
            comment = line.find("//", comment + 2)
        out.append(line if comment < 0 else line[:comment])
    return " ".join(out)


def written(text, mutants):
    """The text (bytes) with all mutants as choices; those that overlap without being nested are refused."""
    order = sorted(mutants, key=lambda m: (m.begin, -m.end, not m.statement))
    accepted, refused, open_ends = [], [], []
    for m in order:
        while open_ends and open_ends[-1] <= m.begin:
            open_ends.pop()
        if open_ends and m.end > open_ends[-1]:
            refused.append(m)
            continue
        open_ends.append(m.end)
        accepted.append(m)
    position = 0

    def part(begin, end):
        nonlocal position
        out = b""
        while position < len(accepted) and accepted[position].begin < end:
            m = accepted[position]
            position += 1
            out += text[begin:m.begin]
            original = part(m.begin, m.end)
            after = on_one_line(m.after)
            if m.statement:
                out += b"{ if (!" + chosen(m).encode() + b") " + original + b" }"
            else:
                out += f"({chosen(m)} ? ({after}) : (".encode() + original + b"))"
            begin = m.end
        return out + text[begin:end]

    body = part(0, len(text))
    return b'#include "ebb/mutate.h"\n#line 1\n' + body, refused


def alone(text, mutant):
    """The text (bytes) with one mutant in the place of the original."""
    after = on_one_line(mutant.after).encode()
    if not mutant.statement:
        after = b"(" + after + b")" if mutant.operator not in ("enumerator", "bool") else after
    lines = text.count(b"\n", mutant.begin, mutant.end)
    return text[:mutant.begin] + after + b"\n" * lines + text[mutant.end:]


HEADER = r"""// Which mutant is awake: the one whose number the environment variable EBB_MUTANT gives.
#pragma once
#pragma GCC diagnostic ignored "-Wbool-operation"
#pragma GCC diagnostic ignored "-Wbool-compare"
#pragma GCC diagnostic ignored "-Wdiv-by-zero"
#pragma GCC diagnostic ignored "-Wduplicated-branches"
#pragma GCC diagnostic ignored "-Wempty-body"
#pragma GCC diagnostic ignored "-Wextra"
#pragma GCC diagnostic ignored "-Wimplicit-fallthrough"
#pragma GCC diagnostic ignored "-Wint-in-bool-context"
#pragma GCC diagnostic ignored "-Wlogical-not-parentheses"
#pragma GCC diagnostic ignored "-Wparentheses"
#pragma GCC diagnostic ignored "-Wreturn-type"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wtype-limits"
#pragma GCC diagnostic ignored "-Wunused-but-set-variable"
#pragma GCC diagnostic ignored "-Wunused-value"
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Warray-bounds"
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#pragma GCC diagnostic ignored "-Waggressive-loop-optimizations"
#pragma GCC diagnostic ignored "-Wdouble-promotion"
#include <type_traits>
namespace ebb::mutate {
constexpr unsigned kTracing = ~0u;
extern const unsigned id __attribute__((visibility("default")));
__attribute__((visibility("default"), cold)) bool note(unsigned mutant) noexcept;
constexpr bool chosen(unsigned mutant) noexcept {
  return !std::is_constant_evaluated() && (id == mutant || (id == kTracing && note(mutant)));
}
}  // namespace ebb::mutate
"""

# Set before all other variables are made, by code that may ask; constant for all but this file. What a traced program
# and its children reach is written to a file that they share.
SOURCE = r"""// Reads which mutant is awake, and notes which are reached.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
namespace ebb::mutate {
extern unsigned id __attribute__((visibility("default")));
unsigned id = 0;
static unsigned char nowhere[1 << 16];
static unsigned char* reached = nowhere;
__attribute__((visibility("default"))) bool note(unsigned mutant) noexcept {
  if (!reached[mutant]) reached[mutant] = 1;
  return false;
}
__attribute__((constructor(101))) static void read_environment() {
  if (const char* text = std::getenv("EBB_MUTANT")) id = static_cast<unsigned>(std::strtoul(text, nullptr, 10));
  const char* trace = std::getenv("EBB_MUTANT_TRACE");
  if (!trace) return;
  id = ~0u;
  const int file = open(trace, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (file < 0 || ftruncate(file, sizeof nowhere)) return;
  void* map = mmap(nullptr, sizeof nowhere, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (map != MAP_FAILED) reached = static_cast<unsigned char*>(map);
}
}  // namespace ebb::mutate
"""

# Goes into the programs that run Catch2's cases: a line for each case, with the mutants that it reaches.
LISTENER = r"""
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
  void testRunStarting(const Catch::TestRunInfo&) override { begin = std::chrono::steady_clock::now(); write("", true); }
  void testCaseStarting(const Catch::TestCaseInfo&) override { begin = std::chrono::steady_clock::now(); }
  void testCaseEnded(const Catch::TestCaseStats& s) override {
    write(std::string(s.testInfo EBB_TEST_INFO name), s.totals.assertions.failed == 0 && s.totals.testCases.failed == 0);
  }
};
CATCH_REGISTER_LISTENER(EbbTrace)
}  // namespace
""".replace("s.testInfo EBB_TEST_INFO name", "case_name(s.testInfo)").replace(
    "struct EbbTrace", "[[maybe_unused]] std::string case_name(const Catch::TestCaseInfo& i) { return i.name; }\n"
    "[[maybe_unused]] std::string case_name(const Catch::TestCaseInfo* i) { return i->name; }\nstruct EbbTrace", 1)
