// Sources written by Compiled::emit() can call every kernel slot and formula.
#include "support/catch.h"
#include "tree.h"

#include <set>

using lint::File;

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
