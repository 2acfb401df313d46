// Headers of op families: each function of include/ebb/ops is declared in a header of the family whose folder
// of src/ops defines it, and headers for sources written by Compiled::emit() include every kernel slot and
// formula.
#include "support/catch.h"
#include "tree.h"

#include <cctype>
#include <map>
#include <regex>
#include <set>

using lint::File;

namespace {

// A function that starts at the beginning of a line: "EBB_API Variable relu(const Variable& self);".
struct Function {
  std::string name;
  int line;
  bool exported;  // begins with EBB_API
  bool defined;   // has a body
};

// The functions of a file outside anonymous namespaces and classes. A function that this misses in a source
// is reported.
std::vector<Function> functions_in(const File& file) {
  static const std::regex name("([A-Za-z_]\\w*|operator[^\\w\\s(]+)\\(");
  std::vector<Function> found;
  bool hidden = false;
  for (std::size_t i = 0; i < file.lines.size(); ++i) {
    if (file.lines[i] == "namespace {") hidden = true;
    if (file.lines[i] == "}  // namespace") hidden = false;
    if (hidden || file.lines[i].empty() || !std::isalpha(static_cast<unsigned char>(file.lines[i][0])))
      continue;
    std::string text = file.lines[i];
    const int first = static_cast<int>(i) + 1;
    while (std::string(";{}").find(text.back()) == std::string::npos && i + 1 < file.lines.size() &&
           !file.lines[i + 1].empty())
      text += file.lines[++i];
    if (std::smatch match; std::regex_search(text, match, name))
      found.push_back({match[1], first, text.starts_with("EBB_API "), text.back() != ';'});
  }
  return found;
}

const std::string kHeaders = "include/ebb/ops/", kSources = "src/ops/";

// The first folder of a path below a root, or the file name without its suffix.
std::string first_below(const std::string& root, const std::string& path) {
  return path.substr(root.size(), path.find_first_of("./", root.size()) - root.size());
}

}  // namespace

TEST_CASE("functions that an ops header declares are defined in the family of the same name") {
  std::map<std::string, std::map<std::string, int>> defined;  // by family and name
  for (const File& file : lint::tree())
    if (file.in(kSources) && file.ends_with(".cpp"))
      for (const Function& f : functions_in(file))
        if (f.defined) ++defined[first_below(kSources, file.path)][f.name];

  std::vector<std::string> complaints;
  std::map<std::string, std::map<std::string, int>> declared;
  int checked = 0;
  for (const File& file : lint::tree()) {
    if (!file.in(kHeaders)) continue;
    // A header with another name than a family contains functions of several families and is exempt.
    const std::string first = first_below(kHeaders, file.path),
                      family = defined.contains(first) ? first : "common";
    for (const Function& f : functions_in(file)) {
      if (!f.exported || f.defined) continue;
      ++checked;
      // Overloads share a name: the family defines as many functions of that name as its headers declare.
      if (++declared[family][f.name] <= defined[family][f.name]) continue;
      std::string where;
      for (auto& [other, names] : defined)
        if (other != family && names[f.name] > 0) where += ", src/ops/" + other + " does";
      complaints.push_back(file.at(f.line) + ": src/ops/" + family + " does not define " + f.name + where);
    }
  }
  CHECK(checked > 900);
  INFO(lint::report(complaints));
  CHECK(complaints.empty());
}

// The compiler checks that the new headers exist, because tests/torch includes all forwarders.
TEST_CASE("no file names a header by its former path") {
  std::vector<std::string> former, complaints;
  for (const File& file : lint::tree())
    for (const std::string& line : file.lines)
      if (file.path == "include/ebb/forwarders.list" && line[0] != '#')
        former.push_back(line.substr(0, line.find(':')));
  CHECK_FALSE(former.empty());
  for (const File& file : lint::tree())
    for (std::size_t i = 0; i < file.lines.size(); ++i)
      for (const std::string& header : former)
        if (file.path == "include/" + header ||
            (file.path != "include/ebb/forwarders.list" && file.lines[i].find(header) != std::string::npos))
          complaints.push_back(file.at(static_cast<int>(i) + 1) + ": " + header);
  INFO(lint::report(complaints));
  CHECK(complaints.empty());
}

TEST_CASE("headers for emitted sources include every kernel slot and formula") {
  std::set<std::string> included;
  std::vector<std::string> wanted;
  for (const File& file : lint::tree()) {
    if (file.path == "src/compile/emitted.h")
      for (const lint::Include& each : file.includes()) included.insert("src/" + each.path);
    if (!file.in("src/ops/") || !file.ends_with(".h")) continue;
    bool declares = file.path.substr(0, file.path.size() - file.name().size()).ends_with("/formulas/");
    for (const std::string& line : file.lines)
      declares = declares || line.starts_with("EBB_DECLARE_KERNELS(") ||
                 (line.starts_with("  static ") && line.find("SlotOf<") != line.npos);
    if (declares) wanted.push_back(file.path);
  }
  CHECK(wanted.size() > 35);
  std::vector<std::string> complaints;
  for (const std::string& path : wanted)
    if (!included.contains(path)) complaints.push_back("src/compile/emitted.h does not include " + path);
  INFO(lint::report(complaints));
  CHECK(complaints.empty());
}
