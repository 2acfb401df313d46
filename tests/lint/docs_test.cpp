// The documents name files and symbols that exist, are all linked, and show code that is compiled.
#include "support/catch.h"
#include "support/files.h"
#include "tree.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>

using lint::File;

namespace {

const File* page(const std::string& path) {
  for (const File& file : lint::tree())
    if (file.path == path) return &file;
  return nullptr;
}

// Joins lines to one text, without indentation and empty lines.
std::string flat(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) {
    const std::size_t first = line.find_first_not_of(" \t"), last = line.find_last_not_of(" \t");
    if (first != line.npos) text += line.substr(first, last - first + 1) + '\n';
  }
  return text;
}

// Returns the files and folders of the project that a line names, without patterns such as src/ops/<family>.
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
  const File* const file_of_list = page("README.md");
  REQUIRE(file_of_list);
  const std::string readme = flat(file_of_list->lines);
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

// Returns the anchor of a heading on GitHub: "## The `Node`, or not" has "the-node-or-not".
std::string anchor_of(const std::string& heading) {
  std::string anchor;
  for (const char c : heading.substr(heading.find_first_not_of("# "))) {
    if (std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_')
      anchor += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    else if (c == ' ')
      anchor += '-';
  }
  return anchor;
}

// Returns whether a page has a heading with this anchor.
bool has_anchor(const File& file, const std::string& anchor) {
  bool code = false;
  for (const std::string& line : file.lines) {
    if (line.find("```") != line.npos) code = !code;
    if (!code && line.starts_with("#") && anchor_of(line) == anchor) return true;
  }
  return false;
}

// Returns the targets of the links of a page, without those to other sites.
std::vector<std::string> links_of(const File& file) {
  std::vector<std::string> links;
  for (const std::string& line : file.lines) {
    for (std::size_t at = line.find("]("); at != line.npos; at = line.find("](", at + 1)) {
      const std::string link = line.substr(at + 2, line.find(')', at) - at - 2);
      if (!link.starts_with("http") && link.find_first_of(" &<[{") == link.npos) links.push_back(link);
    }
  }
  return links;
}

}  // namespace

TEST_CASE("links of pages lead to existing files and headings") {
  CHECK(anchor_of("## The `Node`, or not") == "the-node-or-not");
  std::map<std::string, const File*> pages;
  for (const File& file : lint::tree())
    if (file.ends_with(".md")) pages[file.path] = &file;
  std::vector<std::string> complaints;
  int checked = 0;
  for (const auto& [path, file] : pages) {
    if (!file->in("docs/") && path != "README.md") continue;
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    for (const std::string& link : links_of(*file)) {
      const std::size_t hash = link.find('#');
      const std::string name = link.substr(0, hash);
      const std::string target = name.empty() ? path : (folder / name).lexically_normal().generic_string();
      const bool exists = std::filesystem::exists(source_dir() + "/" + target);
      ++checked;
      if (!exists || (hash != link.npos && !has_anchor(*pages[target], link.substr(hash + 1))))
        complaints.push_back(path + ": " + link + " leads nowhere");
    }
  }
  INFO(lint::report(complaints));
  CHECK(complaints.empty());
  CHECK(checked > 100);
}

namespace {

// Returns the code blocks of a page, each without its indentation. A line "..." divides a block in two. With
// a language, only blocks of that language are returned.
std::vector<std::string> code_blocks(const File& document, const std::string& language = "") {
  std::vector<std::string> blocks, block;
  bool inside = false, wanted = false;
  const auto end = [&] {
    if (wanted && !block.empty()) blocks.push_back(flat(block));
    block.clear();
  };
  for (const std::string& line : document.lines) {
    const std::size_t fence = line.find("```");
    if (fence != line.npos) {
      if (inside) end();
      inside = !inside;
      wanted = language.empty() || line.substr(fence + 3) == language;
    } else if (inside && line == "...") {
      end();
    } else if (inside) {
      block.push_back(line);
    }
  }
  return blocks;
}

// Returns a complaint for each block that stands in no source.
std::vector<std::string> blocks_of_no_source(const std::vector<std::string>& blocks) {
  std::vector<std::string> sources, complaints;
  for (const File& file : lint::tree())
    if (file.is_code()) sources.push_back(flat(file.lines));
  for (const std::string& block : blocks) {
    const bool found = std::any_of(sources.begin(), sources.end(),
                                   [&](const std::string& s) { return s.find(block) != s.npos; });
    if (!found) complaints.push_back("in no source:\n" + block);
  }
  return complaints;
}

// Returns the texts between backquotes in a line.
std::vector<std::string> quoted_in(const std::string& line) {
  std::vector<std::string> spans;
  for (std::size_t open = line.find('`'), close = 0; open != line.npos; open = line.find('`', close + 1)) {
    close = line.find('`', open + 1);
    if (close == line.npos) break;
    spans.push_back(line.substr(open + 1, close - open - 1));
  }
  return spans;
}

// Adds the identifiers in a text.
void add_words(const std::string& text, std::set<std::string>& words) {
  const auto in_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  for (std::size_t start = 0, end = 0; start < text.size(); start = end + 1) {
    end = start;
    while (end < text.size() && in_word(text[end])) ++end;
    if (end > start && !std::isdigit(static_cast<unsigned char>(text[start])))
      words.insert(text.substr(start, end - start));
  }
}

std::set<std::string> words_of(const File& file) {
  std::set<std::string> words;
  for (const std::string& line : file.lines) add_words(line, words);
  return words;
}

// Returns the identifiers of a quoted text that are not among `known`.
std::vector<std::string> unknown_words(const std::string& quoted, const std::set<std::string>& known) {
  std::set<std::string> words;
  add_words(quoted, words);
  std::vector<std::string> unknown;
  std::set_difference(words.begin(), words.end(), known.begin(), known.end(), std::back_inserter(unknown));
  return unknown;
}

}  // namespace

TEST_CASE("the docs lint finds quoted texts and their identifiers") {
  CHECK(quoted_in("the `grad_fn` of `x.grad()`, `open") == std::vector<std::string>{"grad_fn", "x.grad()"});
  CHECK(unknown_words("Node::apply(2)", {"Node"}) == std::vector<std::string>{"apply"});
}

TEST_CASE("identifiers in backquotes of the guides occur in sources") {
  std::set<std::string> known;
  for (const File& file : lint::tree())
    if (!file.ends_with(".md"))
      for (const std::string& line : file.lines) add_words(line, known);
  std::vector<std::string> complaints;
  int checked = 0;
  for (const char* const path :
       {"docs/README.md", "docs/walkthrough.md", "docs/glossary.md", "docs/graph.md"}) {
    const File* const document = page(path);
    REQUIRE(document);
    bool inside = false;
    for (std::size_t i = 0; i < document->lines.size(); ++i) {
      const std::string& line = document->lines[i];
      if (line.find("```") != line.npos) inside = !inside;
      if (inside) continue;
      for (const std::string& quoted : quoted_in(line)) {
        if (!paths_in(quoted).empty()) continue;
        ++checked;
        for (const std::string& word : unknown_words(quoted, known))
          complaints.push_back(document->at(static_cast<int>(i) + 1) + ": no source has " + word);
      }
    }
  }
  INFO(lint::report(complaints));
  CHECK(complaints.empty());
  CHECK(checked > 200);
}

TEST_CASE("each symbol of the glossary occurs in the file that its line names") {
  const File* const document = page("docs/glossary.md");
  REQUIRE(document);
  std::vector<std::string> complaints;
  int checked = 0;
  for (std::size_t i = 0; i < document->lines.size(); ++i) {
    const std::vector<std::string> quoted = quoted_in(document->lines[i]);
    if (!document->lines[i].starts_with("- **") || quoted.size() < 2) continue;
    const File* const file = page(quoted.back());
    const std::string& symbol = quoted[quoted.size() - 2];
    ++checked;
    if (!file || !unknown_words(symbol, words_of(*file)).empty())
      complaints.push_back(document->at(static_cast<int>(i) + 1) + ": no " + symbol + " in " + quoted.back());
  }
  INFO(lint::report(complaints));
  CHECK(complaints.empty());
  CHECK(checked > 40);
}

// Blocks marked c++ are programs of a user.
TEST_CASE("code blocks of walkthrough.md occur in sources") {
  const File* const document = page("docs/walkthrough.md");
  REQUIRE(document);
  const std::vector<std::string> blocks = code_blocks(*document, "cpp");
  const std::vector<std::string> complaints = blocks_of_no_source(blocks);
  INFO(lint::report(complaints));
  CHECK(complaints.empty());
  CHECK(blocks.size() > 20);
}

TEST_CASE("code blocks of adding-an-op.md occur in compiled sources") {
  const File* const document = page("docs/adding-an-op.md");
  REQUIRE(document);
  const std::vector<std::string> blocks = code_blocks(*document);
  const std::vector<std::string> complaints = blocks_of_no_source(blocks);
  INFO(lint::report(complaints));
  CHECK(complaints.empty());
  CHECK(blocks.size() >= 7);
}
