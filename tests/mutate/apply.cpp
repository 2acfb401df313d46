// apply <tree> <copy>: copies what the build reads of the tree and writes the mutants into the copy, which
// then has ebb/mutate.h, by which the environment variable EBB_MUTANT chooses one. Unchanged files are left
// untouched.
#include "mutants.h"

#include <exception>
#include <fstream>
#include <iostream>
#include <map>
#include <set>

namespace fs = std::filesystem;
using mutate::Mutant;

namespace {

constexpr const char* kHeader =
    R"(// Which mutant is awake: the one that the environment variable EBB_MUTANT names.
#pragma once
#pragma GCC diagnostic ignored "-Wempty-body"
#pragma GCC diagnostic ignored "-Wextra"
#pragma GCC diagnostic ignored "-Wparentheses"
#pragma GCC diagnostic ignored "-Wunused-but-set-variable"
#pragma GCC diagnostic ignored "-Wunused-value"
#pragma GCC diagnostic ignored "-Wunused-variable"
#include <type_traits>
namespace ebb::mutate {
extern const unsigned id __attribute__((visibility("default")));
constexpr bool chosen(unsigned mutant) { return !std::is_constant_evaluated() && id == mutant; }
}  // namespace ebb::mutate
)";

// Set before all other variables are made, by code that may ask; constant for all but this file.
constexpr const char* kSource = R"(#include <cstdlib>
namespace ebb::mutate {
extern unsigned id __attribute__((visibility("default")));
unsigned id = 0;
__attribute__((constructor(101))) static void read_environment() {
  if (const char* text = std::getenv("EBB_MUTANT")) id = static_cast<unsigned>(std::strtoul(text, nullptr, 16));
}
}  // namespace ebb::mutate
)";

class Copy {
 public:
  explicit Copy(fs::path folder) : folder_(std::move(folder)) {}

  void write(const fs::path& path, const std::string& text) {
    kept_.insert(path.generic_string());
    const fs::path to = folder_ / path;
    if (fs::exists(to) && mutate::read_file(to) == text) return;
    fs::create_directories(to.parent_path());
    std::ofstream(to, std::ios::binary) << text;
  }

  // Takes away what the tree no longer has.
  void prune(const std::string& part) const {
    if (!fs::exists(folder_ / part)) return;
    std::vector<fs::path> stale;
    for (const auto& entry : fs::recursive_directory_iterator(folder_ / part))
      if (entry.is_regular_file() && !kept_.contains(fs::relative(entry.path(), folder_).generic_string()))
        stale.push_back(entry.path());
    for (const fs::path& path : stale) fs::remove(path);
  }

 private:
  fs::path folder_;
  std::set<std::string> kept_;
};

std::string on_one_line(std::string text) {
  std::string out;
  for (const char c : text)
    if ((c != ' ' && c != '\n') || (!out.empty() && out.back() != ' ')) out += c == '\n' ? ' ' : c;
  return out;
}

void apply(const fs::path& tree, const fs::path& folder) {
  const std::vector<Mutant> all = mutate::read_lists(tree / "tests/mutate");
  std::map<std::string, std::vector<const Mutant*>> by_file;
  for (const Mutant& m : all) by_file[m.file].push_back(&m);

  Copy copy(folder);
  for (const char* part : {"cmake", "include", "python_free_examples", "src", "tests"})
    for (const auto& entry : fs::recursive_directory_iterator(tree / part)) {
      const std::string path = fs::relative(entry.path(), tree).generic_string();
      if (entry.is_regular_file() && !path.starts_with("tests/mutate/") && !by_file.contains(path) &&
          path != "tests/CMakeLists.txt")
        copy.write(path, mutate::read_file(entry.path()));
    }
  for (const char* path : {"CMakeLists.txt", "CMakePresets.json", "LICENSE"})
    copy.write(path, mutate::read_file(tree / path));
  copy.write("include/ebb/mutate.h", kHeader);
  copy.write("src/core/mutate.cpp", kSource);

  // Everything includes the public headers: the mutated ones are for the programs that are to judge them
  // alone.
  std::set<std::string> reads_headers;
  std::string table, misfits;
  for (const auto& [file, mutants] : by_file) {
    std::vector<int> lines;
    std::string text;
    try {
      text = mutate::rewrite(mutate::read_file(tree / file), mutants, lines);
    } catch (const std::exception& e) {
      misfits += std::string(e.what()) + "\n";
      continue;
    }
    const bool is_public = file.starts_with("include/");
    copy.write(file, is_public ? mutate::read_file(tree / file) : text);
    if (is_public) copy.write("mutated/" + file.substr(8), text);
    for (std::size_t i = 0; i < mutants.size(); ++i) {
      const Mutant& m = *mutants[i];
      table += m.id() + "\t" + file + ":" + std::to_string(lines[i]) + "\t";
      for (const std::string& program : m.programs) {
        table += (&program == m.programs.data() ? "" : "|") + program;
        if (is_public) reads_headers.insert(program.substr(0, program.find(':')));
      }
      table += "\t" + on_one_line(m.before) + "\t" + on_one_line(m.after) + "\n";
    }
  }
  if (!misfits.empty()) throw std::runtime_error(misfits);
  std::string more = mutate::read_file(tree / "tests/CMakeLists.txt");
  for (const std::string& program : reads_headers)
    more += "target_include_directories(test_" + program + " BEFORE PRIVATE ${PROJECT_SOURCE_DIR}/mutated)\n";
  copy.write("tests/CMakeLists.txt", more);
  copy.write("mutants.tsv", table);
  for (const char* part : {"cmake", "include", "mutated", "python_free_examples", "src", "tests"})
    copy.prune(part);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: apply <tree> <copy>\n";
    return 2;
  }
  try {
    apply(argv[1], argv[2]);
  } catch (const std::exception& e) {
    std::cerr << e.what() << '\n';
    return 1;
  }
}
