// Command line tool that runs or exports random programs: random_programs [--seed S] [--count N] [--export
// FILE] ...
#include <ebb/core/deterministic.h>

#include "random_programs/bounds.h"
#include "random_programs/derivatives.h"
#include "random_programs/emitted.h"
#include "random_programs/export.h"
#include "random_programs/generate.h"
#include "random_programs/kinds.h"
#include "random_programs/ways.h"

#include <CLI/CLI.hpp>

#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <sstream>

namespace {

using programs::Program;

/// The programs to generate.
struct Search {
  std::uint64_t seed = 1;
  std::int64_t count = 100, most_failures = 10, failures = 0, statements = 0;
  bool print = false;
  std::map<std::string, std::int64_t> known;

  /// Generates programs, and shrinks and prints those for which `fault` returns text. `kind_of` tells which
  /// faults are known. Returns the sum of the counts of `fault`.
  template <class Counts>
  Counts run(const std::function<Program(programs::Draw&)>& make,
             const std::function<std::string(const Program&, Counts*)>& fault,
             const std::function<const char*(const Program&)>& kind_of) {
    Counts counts{};
    for (std::int64_t i = 0; i < count && failures < most_failures; ++i) {
      programs::Draw draw(seed + static_cast<std::uint64_t>(i));
      const Program program = make(draw);
      statements += static_cast<std::int64_t>(program.size());
      if (print) std::cout << source(program, programs::Language::cpp) << std::flush;
      if (fault(program, &counts).empty()) continue;
      if (const char* kind = kind_of(program)) {
        ++known[kind];
        continue;
      }
      ++failures;
      const Program small =
          programs::shrink(program, [&](const Program& p) { return !fault(p, nullptr).empty(); });
      std::cout << "program " << seed + static_cast<std::uint64_t>(i) << ": " << fault(small, nullptr) << "\n"
                << source(small, programs::Language::cpp) << std::endl;
    }
    std::cout << count << " programs, " << statements << " statements, " << failures << " failures";
    return counts;
  }
};

Program any_program(programs::Draw& draw) { return programs::generate(draw); }
const char* no_known_fault(const Program&) { return nullptr; }

/// Checks that programs stay within the bounds of their plain runs; returns the number of decided programs.
std::int64_t run_within_bounds(Search& search, const std::function<programs::Trace(const Program&)>& other) {
  return search.run<std::int64_t>(
      any_program,
      [&](const Program& p, std::int64_t* decided) {
        const programs::Bounds bounds(p);
        if (decided) *decided += bounds.decided();
        return bounds.decided() ? bounds.violation(other(p)) : "";
      },
      no_known_fault);
}

int run_text(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  const Program program = programs::from_text(text.str());
  const std::string found = programs::disagreement(program);
  std::cout << source(program, programs::Language::cpp) << found << std::endl;
  return found.empty() ? 0 : 1;
}

void print_coverage(const Search& search) {
  programs::Coverage coverage;
  for (std::int64_t i = 0; i < search.count; ++i) {
    programs::Draw draw(search.seed + static_cast<std::uint64_t>(i));
    coverage.add(programs::generate(draw));
  }
  std::cout << coverage;
}

void run_at_level(Search& search, const std::string& level, bool exact) {
  programs::OtherProcess other(level, exact);
  const auto there = [&](const Program& p) { return other.run(p); };
  if (!exact) {
    const std::int64_t decided = run_within_bounds(search, there);
    std::cout << "; decided: " << decided << "\n";
    return;
  }
  search.run<std::int64_t>(
      any_program,
      [&](const Program& p, std::int64_t*) {
        return programs::difference(programs::run(p, programs::ways().front()), there(p));
      },
      no_known_fault);
  std::cout << "\n";
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Runs random programs in several ways and compares what they give.");
  Search search;
  bool log = false, derivatives = false, serve = false, exact = false;
  std::string level;
  app.add_option("--seed", search.seed, "of the first program; the next have the numbers that follow");
  app.add_option("--count", search.count, "of programs");
  app.add_option("--stop", search.most_failures, "after so many failures");
  app.add_flag("--print", search.print, "every program");
  app.add_flag("--derivatives", derivatives, "smooth programs against finite differences instead");
  app.add_option("--level", level, "against a process with this EBB_ISA instead");
  app.add_flag("--exact", exact, "with --level: in deterministic mode, bit for bit, not within bounds");
  bool on_device = false;
  app.add_flag("--cuda", on_device, "on a CUDA device, against the CPU, instead");
  app.add_flag("--serve", serve, "runs programs for another process")->group("");
  std::string text_file;
  app.add_option("--text", text_file,
                 "the program of this file, as a failure prints it, instead of drawn ones");
  bool coverage = false;
  app.add_flag("--coverage", coverage,
               "how many of the programs have each kind and each pair, instead of running them");
  app.add_flag("--log", log, "every statement before it runs");
  std::string programs_file, rows_file;
  app.add_option("--export", programs_file, "writes the programs, and what they give, as Python for PyTorch");
  std::string emit_folder;
  app.add_option("--emit", emit_folder, "writes so many programs as sources into this folder");
  app.add_option("--export-rows", rows_file, "the same for every row of the op table alone");
  CLI11_PARSE(app, argc, argv);
  ebb::use_deterministic_algorithms(exact);
  if (serve) return programs::serve(), 0;
  if (log) programs::run_log = &std::cerr;
  if (!text_file.empty()) return run_text(text_file);
  if (coverage) return print_coverage(search), 0;
  if (!emit_folder.empty())
    return programs::emit_programs(emit_folder, search.seed, static_cast<int>(search.count)), 0;
  if (!programs_file.empty() || !rows_file.empty()) {
    std::ofstream file(rows_file.empty() ? programs_file : rows_file);
    if (rows_file.empty())
      programs::export_programs(file, search.seed, search.count);
    else
      programs::export_rows(file);
    return file.flush() ? 0 : 1;
  }
  if (!level.empty()) {
    run_at_level(search, level, exact);
  } else if (on_device) {
    const auto decided =
        search.run<std::int64_t>(programs::generate_for_device, programs::wrong_on_device, no_known_fault);
    std::cout << "; decided: " << decided << "\n";
  } else if (derivatives) {
    const auto decided =
        search.run<programs::Decided>(programs::generate_smooth, programs::wrong_derivative, no_known_fault);
    std::cout << "; decided: " << decided.first << " first and " << decided.second << " second derivatives\n";
  } else {
    const auto counts = search.run<programs::Counts>(
        any_program, programs::disagreement, [](const Program& p) { return programs::known_fault(p); });
    std::cout << "; " << counts.replays << " replays, " << counts.resumed << " resumed\n";
  }
  for (const auto& [fault, times] : search.known) std::cout << times << " times: " << fault << "\n";
  return search.failures == 0 ? 0 : 1;
}
