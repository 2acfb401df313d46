// Draws and runs programs: random_programs [--seed S] [--count N] [--print] [--stop K].
#include <CLI/CLI.hpp>

#include <chrono>
#include <iostream>
#include <map>

#include "random_programs/generate.h"
#include "random_programs/known_faults.h"
#include "random_programs/print.h"
#include "random_programs/shrink.h"
#include "random_programs/ways.h"

int main(int argc, char** argv) {
  CLI::App app("Runs random programs in several ways and compares what they give.");
  std::uint64_t seed = 1;
  std::int64_t count = 100, most_failures = 10;
  bool print = false, log = false;
  app.add_option("--seed", seed, "of the first program; the next have the numbers that follow");
  app.add_option("--count", count, "of programs");
  app.add_option("--stop", most_failures, "after so many failures");
  app.add_flag("--print", print, "every program");
  app.add_flag("--log", log, "every statement before it runs");
  CLI11_PARSE(app, argc, argv);
  if (log) programs::run_log = &std::cerr;
  std::map<std::string, std::int64_t> known;
  std::int64_t failures = 0, replays = 0, statements = 0;
  for (std::int64_t i = 0; i < count && failures < most_failures; ++i) {
    programs::Draw draw(seed + static_cast<std::uint64_t>(i));
    const programs::Program program = programs::generate(draw);
    statements += static_cast<std::int64_t>(program.size());
    if (print) std::cout << source(program, programs::Language::cpp) << std::flush;
    const std::string found = programs::disagreement(program, &replays);
    if (found.empty()) continue;
    if (const char* fault = programs::known_fault(program)) {
      ++known[fault];
      continue;
    }
    ++failures;
    const programs::Program small = programs::shrink(
        program, [](const programs::Program& p) { return !programs::disagreement(p).empty(); });
    std::cout << "program " << seed + static_cast<std::uint64_t>(i) << ": " << programs::disagreement(small)
              << "\n"
              << source(small, programs::Language::cpp) << std::endl;
  }
  std::cout << count << " programs, " << statements << " statements, " << replays << " replays, " << failures
            << " failures\n";
  for (const auto& [fault, times] : known) std::cout << times << " times: " << fault << "\n";
  return failures == 0 ? 0 : 1;
}
