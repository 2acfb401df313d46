// The documents name files that exist, are linked from README, and show code that is compiled.
#include "support/catch.h"
#include "support/source_dir.h"
#include "tree.h"

#include <algorithm>
#include <cctype>
#include <filesystem>

using lint::File;

namespace {

// The files and folders of the project that a line names, except patterns such as src/ops/<family>.
std::vector<std::string> paths_in(const std::string& line) {
  const auto belongs = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) ||
           std::string("_./-<>{}*").find(c) != std::string::npos;
  };
  std::vector<std::string> paths;
  for (std::size_t start = 0, end = 0; start < line.size(); start = end + 1) {
    end = start;
    while (end < line.size() && belongs(line[end])) ++end;
    std::string word = line.substr(start, end - start);
    while (word.ends_with(".")) word.pop_back();
    if (word.starts_with("./")) word.erase(0, 2);
    if (word.find_first_of("<>{}*") != word.npos) continue;
    for (const std::string root : {"src/", "tests/", "include/", "docs/", "cmake/", "benchmarks/"})
      if (word.starts_with(root)) paths.push_back(word);
  }
  return paths;
}

}  // namespace

TEST_CASE("the docs lint finds paths in prose") {
  CHECK(paths_in("see `src/a.cpp:12`, ./tests/run. `src/ops/<family>` (docs/)") ==
        std::vector<std::string>{"src/a.cpp", "tests/run", "docs/"});
}

TEST_CASE("documents name only existing files") {
  std::vector<std::string> complaints;
  int found = 0;
  for (const File& file : lint::tree()) {
    if (!file.ends_with(".md")) continue;
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      for (const std::string& path : paths_in(file.lines[i])) {
        ++found;
        if (!std::filesystem::exists(source_dir() + "/" + path))
          complaints.push_back(file.at(static_cast<int>(i) + 1) + ": there is no " + path);
      }
    }
  }
  INFO(lint::report(complaints));
  CHECK(complaints.empty());
  CHECK(found > 50);
}

TEST_CASE("README lists every page of docs") {
  std::string readme;
  for (const File& file : lint::tree())
    if (file.path == "README.md")
      for (const std::string& line : file.lines) readme += line + '\n';
  const std::string list = readme.substr(std::min(readme.find("## More"), readme.size()));
  int pages = 0;
  for (const File& file : lint::tree()) {
    if (!file.in("docs/") || !file.ends_with(".md")) continue;
    ++pages;
    INFO(file.path);
    CHECK(list.find("](" + file.path + ") |") != list.npos);
  }
  CHECK(pages > 10);
}

namespace {

// The lines as one text, without surrounding white space and without empty lines.
std::string flat(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) {
    const std::size_t first = line.find_first_not_of(" \t"), last = line.find_last_not_of(" \t");
    if (first != line.npos) text += line.substr(first, last - first + 1) + '\n';
  }
  return text;
}

}  // namespace

TEST_CASE("code blocks of adding-an-op.md occur in compiled sources") {
  std::vector<std::string> sources, complaints;
  const File* document = nullptr;
  for (const File& file : lint::tree()) {
    if (file.path == "docs/adding-an-op.md") document = &file;
    if (file.is_code()) sources.push_back(flat(file.lines));
  }
  REQUIRE(document);
  int blocks = 0;
  std::vector<std::string> block;
  bool inside = false;
  for (const std::string& line : document->lines) {
    const bool fence = line.find("```") != line.npos;
    if (!fence && inside) block.push_back(line);
    if (!fence) continue;
    if (inside) {
      ++blocks;
      const std::string text = flat(block);
      const bool found = std::any_of(sources.begin(), sources.end(),
                                     [&](const std::string& s) { return s.find(text) != s.npos; });
      if (!found) complaints.push_back("in no source:\n" + text);
      block.clear();
    }
    inside = !inside;
  }
  INFO(lint::report(complaints));
  CHECK(complaints.empty());
  CHECK(blocks >= 7);
}
