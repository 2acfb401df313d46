// Include rules between folders (docs/architecture.md).
#include "support/catch.h"
#include "tree.h"

#include <algorithm>
#include <map>
#include <regex>
#include <set>

using lint::File;
using lint::Include;

namespace {

bool starts(const std::string& text, const std::string& start) { return text.starts_with(start); }

// The path of the file below its root, or "" for a file outside both roots.
std::string below_root(const File& file) {
  for (const std::string root : {"include/ebb/", "src/"}) {
    if (file.in(root)) return file.path.substr(root.size());
  }
  return "";
}

// All headers, by path.
const std::map<std::string, const File*>& headers() {
  static const std::map<std::string, const File*> found = [] {
    std::map<std::string, const File*> by_path;
    for (const File& file : lint::tree())
      if (file.ends_with(".h")) by_path[file.path] = &file;
    return by_path;
  }();
  return found;
}

// The header of ebb that an #include names, or null for other headers.
const File* target_of(const File& file, const Include& include) {
  const std::string beside = file.path.substr(0, file.path.find_last_of('/') + 1) + include.path;
  for (const std::string& path : {(include.quoted ? "src/" : "include/") + include.path, beside}) {
    const auto found = headers().find(path);
    if (found != headers().end()) return found->second;
  }
  return nullptr;
}

bool is_of(const std::string& path, const std::string& device) {
  const std::string name = path.substr(path.find_last_of('/') + 1);
  return starts(name, device) || path.find("/" + device + "/") != std::string::npos ||
         starts(path, device + "/") || (device == "cuda" && path.ends_with(".cu"));
}

// The room of a file of include/ebb or src: "ebb/NAME" for a public folder or header, NAME for a folder of
// src, "ops/NAME" for a family of ops, and "" for other files.
std::string room_of(const File& file) {
  const std::string own = below_root(file);
  const std::size_t slash = own.find('/');
  const std::string first = slash == own.npos ? own.substr(0, own.find('.')) : own.substr(0, slash);
  if (own.empty()) return "";
  if (file.in("include/")) return "ebb/" + first;
  if (first != "ops" && first != "kernel" && first != "cuda") return first;
  const std::size_t second = own.find('/', slash + 1);
  return second == own.npos ? first : own.substr(0, second);
}

// The rooms in a cell of the table, for example `fwd.h` `core/`.
std::vector<std::string> rooms_in(const std::string& cell, const std::string& root) {
  static const std::regex name("`([^`]+?)(/|[.]h)`");
  std::vector<std::string> rooms;
  for (std::sregex_iterator at(cell.begin(), cell.end(), name), end; at != end; ++at) {
    const std::string room = (*at)[1] == "ops/<family>" ? "ops/" : root + (*at)[1].str();
    if (std::find(rooms.begin(), rooms.end(), room) == rooms.end()) rooms.push_back(room);
  }
  return rooms;
}

// The rooms from the lowest layer up, in the order of the table of docs/architecture.md: for each line its
// public rooms, then its rooms of src. A room includes only earlier rooms.
const std::vector<std::string>& house() {
  static const std::vector<std::string> rooms = [] {
    std::vector<std::string> found;
    for (const File& file : lint::tree()) {
      if (file.path != "docs/architecture.md") continue;
      bool inside = false;
      for (const std::string& line : file.lines) {
        inside = line.starts_with("| rooms of `include/ebb`") || (inside && line.starts_with("|"));
        if (!inside) continue;
        const std::size_t second = line.find('|', 1), third = line.find('|', second + 1);
        const std::string open = line.substr(1, second - 1),
                          own = line.substr(second + 1, third - second - 1);
        for (const std::string& room : rooms_in(open, "ebb/")) found.push_back(room);
        for (const std::string& room : rooms_in(own, "")) found.push_back(room);
      }
    }
    return found;
  }();
  return rooms;
}

// Families of ops are on one floor, and include only public headers of each other.
std::size_t floor_of(const std::string& room) {
  const std::string name = room.starts_with("ops/") && room != "ops/common" ? "ops/" : room;
  const auto found = std::find(house().begin(), house().end(), name);
  return static_cast<std::size_t>(found - house().begin());
}

}  // namespace

TEST_CASE("every folder includes only headers of lower layers") {
  CHECK(house().size() > 30);
  std::vector<std::string> complaints;
  int checked = 0;
  for (const File& file : lint::tree()) {
    const std::string room = room_of(file);
    if (!file.is_code() || room.empty()) continue;
    if (floor_of(room) == house().size()) complaints.push_back(file.path + " is in no room of the house");
    for (const Include& include : file.includes()) {
      const File* const target = target_of(file, include);
      const std::string other = target ? room_of(*target) : "";
      if (other.empty() || other == room) continue;
      ++checked;
      if (floor_of(other) >= floor_of(room))
        complaints.push_back(file.at(include.line) + ": " + room + " includes " + include.path + " of " +
                             other);
    }
  }
  INFO(lint::report(complaints));
  CHECK(complaints.empty());
  CHECK(checked > 50);
}

// These headers define the macro torch and many other names, so a program must include them explicitly.
TEST_CASE("ebb does not include the compatibility headers of libtorch") {
  std::vector<std::string> complaints;
  int headers_of_libtorch = 0;
  for (const File& file : lint::tree()) {
    headers_of_libtorch += file.in("include/libtorch/");
    if (!file.is_code() || below_root(file).empty()) continue;
    for (const Include& include : file.includes()) {
      if (starts(include.path, "torch/") || starts(include.path, "ATen/") || starts(include.path, "c10/"))
        complaints.push_back(file.at(include.line) + " includes " + include.path);
    }
  }
  CHECK(headers_of_libtorch > 50);
  INFO(lint::report(complaints));
  CHECK(complaints.empty());
}

TEST_CASE("the library and its public headers do not include test headers") {
  std::vector<std::string> complaints;
  for (const File& file : lint::tree()) {
    if (!file.is_code() || below_root(file).empty()) continue;
    for (const Include& include : file.includes())
      if (include.quoted && !target_of(file, include) && headers().contains("tests/" + include.path))
        complaints.push_back(file.at(include.line) + " includes " + include.path);
  }
  INFO(lint::report(complaints));
  CHECK(complaints.empty());
}

TEST_CASE("only one header in tests/support includes Catch2") {
  std::vector<std::string> complaints, doors;
  for (const File& file : lint::tree()) {
    if (!file.is_code()) continue;
    for (const Include& include : file.includes())
      if (starts(include.path, "catch2/"))
        (file.path == "tests/support/catch.h" ? doors : complaints).push_back(file.at(include.line));
  }
  INFO(lint::report(complaints));
  CHECK(complaints.empty());
  CHECK(doors.size() == 2);
}

TEST_CASE("kernels of one device include no headers of the other device or of autograd") {
  std::vector<std::string> complaints;
  for (const File& file : lint::tree()) {
    const std::string own = below_root(file);
    if (!file.is_code() || own.empty()) continue;
    const bool cpu = is_of(own, "cpu"), cuda = is_of(own, "cuda");
    for (const Include& include : file.includes()) {
      const File* const header = target_of(file, include);
      if (!header) continue;
      const std::string target = below_root(*header);
      if ((cpu && is_of(target, "cuda")) || (cuda && is_of(target, "cpu")) ||
          ((cpu || cuda) && (starts(target, "autograd/") || starts(target, "methods/")))) {
        complaints.push_back(file.at(include.line) + " includes " + include.path);
      }
    }
  }
  INFO(lint::report(complaints));
  CHECK(complaints.empty());
}

TEST_CASE("formula headers include only arithmetic headers") {
  static const std::set<std::string> allowed = {"cmath",   "cstdint", "cstddef", "limits",      "numbers",
                                                "climits", "cfloat",  "bit",     "type_traits", "concepts"};
  std::vector<std::string> complaints;
  // Headers of formulas, wrapping integers, 16-bit floats and the parts of an elementwise formula count as
  // arithmetic.
  static const std::set<std::string> arithmetic = {"src/kernel/carrier.h", "src/kernel/arithmetic.h",
                                                   "include/ebb/core/half.h",
                                                   "src/ops/elementwise/formula.h"};
  const auto is_formula = [](const File& file) {
    return file.ends_with(".h") && ((file.in("src/ops/") && file.name().starts_with("math")) ||
                                    file.in("src/ops/elementwise/formulas/"));
  };
  int formulas = 0;
  for (const File& file : lint::tree()) {
    if (!is_formula(file)) continue;
    ++formulas;
    for (const Include& include : file.includes()) {
      const File* const header = target_of(file, include);
      if (header ? is_formula(*header) || arithmetic.contains(header->path) : allowed.contains(include.path))
        continue;
      complaints.push_back(file.at(include.line) + " includes " + include.path);
    }
  }
  CHECK(formulas >= 15);
  INFO(lint::report(complaints));
  CHECK(complaints.empty());
}

// NVRTC compiles kernels without access to ebb's headers and the standard library.
TEST_CASE("headers for NVRTC use only headers and names of std that NVRTC receives") {
  const auto text_of = [](const std::string& path) {
    std::string text;
    for (const File& file : lint::tree())
      if (file.path == path)
        for (const std::string& line : file.lines) text += line + '\n';
    return text;
  };
  const std::string embedded = text_of("cmake/EbbEmbed.cmake"),
                    options = text_of("src/cuda/nvidia/nvrtc.cpp"),
                    library = text_of("src/cuda/nvidia/device_std.h");
  const std::regex word("[a-z_0-9]+"), library_name("std::([a-z_0-9]+)");
  const auto of_library = std::set<std::string>(
      std::sregex_token_iterator(library.begin(), library.end(), word), std::sregex_token_iterator());
  const auto is_embedded = [&](const File& file) {
    const bool is_public = file.in("include/");
    return file.in("src/ops/elementwise/formulas/") ||
           embedded.find((is_public ? "${_include}/" : "${_src}/") + file.path.substr(is_public ? 8 : 4)) !=
               embedded.npos;
  };
  std::vector<std::string> complaints;
  int checked = 0;
  for (const auto& [path, file] : headers()) {
    if (!is_embedded(*file)) continue;
    ++checked;
    for (const Include& include : file->includes()) {
      const File* const target = target_of(*file, include);
      const bool stands_in = options.find('"' + include.path + '"') != options.npos;
      const bool never_read = include.path == "ebb/cannot_be_compiled_so";
      if (target ? !is_embedded(*target) : !stands_in && !never_read)
        complaints.push_back(file->at(include.line) + " includes " + include.path);
    }
    for (std::size_t i = 0; i < file->lines.size(); ++i) {
      const std::string& line = file->lines[i];
      for (std::sregex_iterator use(line.begin(), line.end(), library_name), end; use != end; ++use)
        if (!of_library.contains((*use)[1]))
          complaints.push_back(file->at(static_cast<int>(i) + 1) + " names " + use->str() +
                               ", which device_std.h lacks");
    }
  }
  CHECK(checked > 25);
  INFO(lint::report(complaints));
  CHECK(complaints.empty());
}

TEST_CASE("heavy standard headers are included only in allowed files") {
  static const std::set<std::string> heavy = {"iostream", "regex", "filesystem", "thread"};
  std::vector<std::string> complaints;
  for (const File& file : lint::tree()) {
    if (!file.is_code()) continue;
    const std::string own = below_root(file);
    for (const Include& include : file.includes()) {
      const bool library = include.path.starts_with("Eigen") || include.path.starts_with("fmt/") ||
                           include.path.starts_with("nlohmann/") || include.path.starts_with("cuda") ||
                           include.path == "zlib.h" || include.path == "omp.h";
      // Data loaders and prefetching pipelines are templates that own their worker threads.
      const bool workers = include.path == "thread" && file.in("include/ebb/data/");
      const bool in_header = file.in("include/ebb/") && (library || heavy.contains(include.path)) && !workers;
      const bool eigen = include.path.starts_with("Eigen") && file.in("src/") && !is_of(own, "cpu");
      // Hooks take a std::function, but headers that every op includes must not.
      const bool function =
          include.path == "functional" && (file.in("include/ebb/core/") || file.in("include/ebb/ops/"));
      if (in_header || eigen || function)
        complaints.push_back(file.at(include.line) + " includes " + include.path);
    }
  }
  INFO(lint::report(complaints));
  CHECK(complaints.empty());
}
