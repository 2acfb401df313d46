// House rules: rules that every file of the project follows.
#include "support/catch.h"
#include "tree.h"

#include <cctype>

using lint::File;

namespace {

// The position of `word` as a whole word, or npos.
size_t find_word(const std::string& line, const std::string& word) {
  for (size_t at = line.find(word); at != std::string::npos; at = line.find(word, at + 1)) {
    const auto letter = [&](size_t i) {
      return i < line.size() && (std::isalnum(static_cast<unsigned char>(line[i])) || line[i] == '_');
    };
    if ((at == 0 || !letter(at - 1)) && !letter(at + word.size())) return at;
  }
  return std::string::npos;
}

// Whether the line contains "/<folder>/" at the start of a path.
bool has_absolute(const std::string& line, const std::string& folder) {
  const std::string path = "/" + folder + "/";
  for (size_t at = line.find(path); at != std::string::npos; at = line.find(path, at + 1)) {
    if (at == 0 || std::string(" \t\"'=:(`,>[").find(line[at - 1]) != std::string::npos) return true;
  }
  return false;
}

template <class Complain>
void check_lines(Complain complain) {
  std::vector<std::string> complaints;
  for (const File& file : lint::tree()) {
    for (size_t i = 0; i < file.lines.size(); ++i) {
      const std::string complaint = complain(file, file.lines[i]);
      if (!complaint.empty()) complaints.push_back(file.at(static_cast<int>(i) + 1) + ": " + complaint);
    }
  }
  INFO(lint::report(complaints));
  CHECK(complaints.empty());
}

}  // namespace

TEST_CASE("the lint tests read the source tree") { CHECK(lint::tree().size() > 50); }

TEST_CASE("public headers define only macros with the prefix EBB_") {
  check_lines([](const File& file, const std::string& line) -> std::string {
    if (!file.in("include/ebb/") || !line.starts_with("#"))
      return "";  // libtorch's headers have their own macros
    const size_t at = line.find("define");
    if (at == std::string::npos || line.find_first_not_of("# ") != at) return "";
    const size_t name = line.find_first_not_of(' ', at + 6);
    return line.compare(name, 4, "EBB_") == 0 ? "" : line;
  });
}

TEST_CASE("public headers are guarded by pragma once") {
  std::vector<std::string> complaints;
  for (const File& file : lint::tree()) {
    if (!file.ends_with(".h")) continue;
    bool guarded = false;
    for (const std::string& line : file.lines) guarded = guarded || line == "#pragma once";
    if (!guarded) complaints.push_back(file.path);
  }
  INFO(lint::report(complaints));
  CHECK(complaints.empty());
}

TEST_CASE("no file contains a marker for unfinished work") {
  const std::string later[] = {std::string("TO") + "DO", std::string("FIX") + "ME", std::string("XX") + "X"};
  check_lines([&](const File&, const std::string& line) -> std::string {
    for (const std::string& word : later) {
      if (find_word(line, word) != std::string::npos) return line;
    }
    return "";
  });
}

TEST_CASE("no file names an absolute path of a developer's machine") {
  const std::string folders[] = {std::string("wo") + "rk", std::string("ro") + "ot",
                                 std::string("ho") + "me"};
  check_lines([&](const File&, const std::string& line) -> std::string {
    for (const std::string& folder : folders) {
      if (has_absolute(line, folder)) return line;
    }
    return "";
  });
}

// Programs with more rights than their caller must not read its environment.
TEST_CASE("the library reads the environment through one function") {
  check_lines([&](const File& file, const std::string& line) -> std::string {
    const bool of_library = file.in("src/") || file.in("include/");
    return of_library && line.find("getenv(") != line.npos && file.path != "include/ebb/core/environment.h"
               ? line
               : "";
  });
}

TEST_CASE("every source file opens with a comment line") {
  std::vector<std::string> complaints;
  for (const File& file : lint::tree()) {
    const std::string sign = file.comment_sign();
    if (sign.empty()) continue;
    const bool script = !file.lines.empty() && file.lines[0].starts_with("#!");
    const std::string opening = file.lines.size() > script ? file.lines[script] : "";
    if (!opening.starts_with(sign) || opening.find_first_not_of(' ', sign.size()) == std::string::npos)
      complaints.push_back(file.path);
  }
  INFO(lint::report(complaints));
  CHECK(complaints.empty());
}

// lint.format checks C++.
TEST_CASE("scripts and build files have no tabs and no trailing spaces") {
  check_lines([](const File& file, const std::string& line) -> std::string {
    if (file.is_code() || file.ends_with(".md")) return "";
    if (line.find('\t') != std::string::npos) return "a tab";
    return !line.empty() && (line.back() == ' ' || line.back() == '\r') ? "space at the end of the line" : "";
  });
}
