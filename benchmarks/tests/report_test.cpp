// Tests of the scripts that convert a benchmark's JSON to tables, CSV, Markdown and a chart, and of
// contestants.
#include "support/catch.h"
#include "support/files.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

using support::Contains;

namespace {

std::string benchmarks() { return std::string(source_dir()) + "/benchmarks/"; }

// Returns the output of a command with `input` on its stdin.
std::string output_of(const std::string& command, const std::string& input = "") {
  const std::string file = support::temporary("input");
  std::ofstream(file) << input;
  std::FILE* const pipe = ::popen((command + " <" + file).c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string printed;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) printed.push_back(static_cast<char>(c));
  REQUIRE(::pclose(pipe) == 0);
  return printed;
}

std::string awk(const std::string& script, const std::string& input, const std::string& options = "") {
  return output_of("awk " + options + " -f " + benchmarks() + script, input);
}

// Three rounds of two sides with different roofs, and a figure of memory.
const char* const kLines =
    "ebb op.a 30 us 0.5 100\n"
    "wheel op.a 40 us 0.5 200\n"
    "ebb op.a 10 us 0.9 100\n"
    "wheel op.a 80 us 0.5 200\n"
    "ebb op.a 20 us 0.8 100\n"
    "wheel op.a 50 us 0.5 200\n"
    "ebb op.b 4 ms - -\n"
    "wheel op.b 1 ms - -\n"
    "ebb op.peak_memory 8 MiB - -\n"
    "wheel op.peak_memory 32 MiB - -\n"
    "ebb op.alone 3 GB/s - -\n";

const char* const kCsv =
    "workload,unit,ebb,wheel,ratio,of_roof\n"
    "op.a,us,20,50,0.400,0.400\n"
    "op.b,ms,4,1,4.000,\n"
    "op.peak_memory,MiB,8,32,0.250,\n"
    "op.alone,GB/s,3,,,\n";

}  // namespace

TEST_CASE("figures.awk extracts the medians from a benchmark's JSON") {
  const auto entry = [](const std::string& type, const std::string& value) {
    return "    {\n      \"run_name\": \"op.a/real_time\",\n      \"run_type\": \"" + type +
           "\",\n      \"of_roof\": 0.5,\n      \"roof\": 1.5e+11,\n      \"value\": " + value +
           ",\n      \"label\": \"us\"\n    },\n";
  };
  const std::string lines =
      awk("figures.awk", entry("aggregate\",\n      \"aggregate_name\": \"mean", "7") +
                             entry("aggregate\",\n      \"aggregate_name\": \"median", "6"));
  CHECK(lines == "op.a 6 us 0.5 1.5e+11\n");
  CHECK(awk("figures.awk", entry("iteration", "5")) == "op.a 5 us 0.5 1.5e+11\n");
}

TEST_CASE("table.awk computes medians, ratios to the best other side, and ebb's share of the highest roof") {
  CHECK(awk("table.awk", kLines, "-v csv=1") == kCsv);
  const std::string table = awk("table.awk", kLines);
  CHECK_THAT(table, Contains("op.a ") && Contains("0.400        40 %"));
  CHECK_THAT(table,
             Contains("op.alone ") && Contains("GB/s") && Contains("          -           -           -\n"));
}

TEST_CASE("markdown.awk converts CSV to Markdown with a separate table for memory") {
  const std::string file = support::temporary("figures.csv");
  std::ofstream(file) << kCsv;
  const std::string one = output_of("awk -f " + benchmarks() + "markdown.awk " + file);
  CHECK_THAT(one, Contains("| `op.a` | us | 20 | 2.50 | 40 % |\n| `op.b` | ms | 4 | 0.25 |  |\n"));
  CHECK_THAT(one, support::EndsWith("| `op.peak_memory` | MiB | 8 | 4.00 |\n"));
  const std::string two = output_of("awk -f " + benchmarks() + "markdown.awk " + file + " " + file);
  CHECK_THAT(two, Contains("| `op.a` | us | 20 | 2.50 | 40 % | 20 | 2.50 | 40 % |\n"));
}

TEST_CASE("chart.awk converts CSV to a chart with a logarithmic scale") {
  const std::string chart = awk("chart.awk", kCsv);
  // A factor of two takes 80 pixels, and the ratio 1 is at x = 490.
  CHECK_THAT(chart, Contains("cx=\"595.8\"") && Contains("<title>wheel: 2.50</title>"));
  CHECK_THAT(chart, Contains("cx=\"330.0\"") && Contains("<title>wheel: 0.25</title>"));
  CHECK_THAT(chart, !Contains("op.peak_memory") && !Contains("op.alone"));
}

TEST_CASE("contestants/benchdnn runs the convolutions that the given benchmark names describe") {
  const std::string folder = support::temporary("standin"), program = folder + "/benchdnn";
  std::filesystem::create_directories(folder);
  std::ofstream(program) << "#!/bin/sh\n"
                            "for last; do :; done\n"
                            "[ \"$last\" = mb8ic64ih56oc128oh28kh3sh2ph1 ] || exit 1\n"
                            "case $* in *--dir=BWD_W*) echo perf 2.5 ;; *) echo perf 1.5 ;; esac\n"
                            "echo tests:1 passed:1\n";
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  const std::string adaptor = "PATH=" + folder + ":$PATH " + benchmarks() + "contestants/benchdnn ";
  CHECK(output_of(adaptor + "--available").empty());
  const std::string layer = "convolution.3x3.s2.64.128.56x56.batch8.";
  const std::string names = layer + "forward\n" + layer + "weight/real_time\nconvolution.peak_memory\n";
  CHECK(output_of(adaptor + "convolution", names) == layer + "forward 1.5 ms\n" + layer + "weight 2.5 ms\n");
  CHECK(output_of(adaptor + "mlp", names).empty());
}
