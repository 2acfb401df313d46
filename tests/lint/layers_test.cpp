// Who may include whom (docs/architecture.md): core <- kernel <- ops' kernels; core, kernel <- autograd <-
// ops <- nn, optim <- data, io; and src/cuda, the device's runtime, knows core, kernel and the ops' kernels.
#include <catch2/catch.hpp>

#include <map>
#include <set>

#include "tree.h"

using lint::File;
using lint::Include;

namespace {

bool starts(const std::string& text, const std::string& start) { return text.starts_with(start); }

// The file's path below its root, or "" for a file of neither root.
std::string below_root(const File& file) {
  for (const std::string root : {"include/ebb/", "src/"}) {
    if (file.in(root)) return file.path.substr(root.size());
  }
  return "";
}

// All headers of include/ebb and src, by their path below that root.
const std::map<std::string, const File*>& headers() {
  static const std::map<std::string, const File*> found = [] {
    std::map<std::string, const File*> by_path;
    for (const File& file : lint::tree()) {
      if (file.ends_with(".h") && !below_root(file).empty()) by_path[below_root(file)] = &file;
    }
    return by_path;
  }();
  return found;
}

// What an #include names, below its root; "" when it is not a file of ebb.
std::string target_of(const File& file, const Include& include) {
  if (starts(include.path, "ebb/")) return include.path.substr(4);
  if (!include.quoted) return "";
  const std::string own = below_root(file), beside = own.substr(0, own.find_last_of('/') + 1) + include.path;
  return headers().contains(include.path) ? include.path : beside;
}

bool is_of(const std::string& path, const std::string& device) {
  const std::string name = path.substr(path.find_last_of('/') + 1);
  return starts(name, device) || path.find("/" + device + "/") != std::string::npos ||
         starts(path, device + "/") || (device == "cuda" && path.ends_with(".cu"));
}

// Does a header lead, through what it includes, to autograd?
bool reaches_autograd(const std::string& path, std::set<std::string>& seen) {
  if (starts(path, "autograd/") || starts(path, "ops/methods/")) return true;
  const auto found = headers().find(path);
  if (found == headers().end() || !seen.insert(path).second) return false;
  for (const Include& include : found->second->includes()) {
    if (reaches_autograd(target_of(*found->second, include), seen)) return true;
  }
  return false;
}

// Kernels are the files of a device, the formulas, and every header of ops that knows nothing of autograd.
bool is_kernel(const std::string& path) {
  const std::string name = path.substr(path.find_last_of('/') + 1);
  if (starts(name, "math") || starts(name, "kernels") || is_of(path, "cpu") || is_of(path, "cuda"))
    return true;
  std::set<std::string> seen;
  return path.ends_with(".h") && !reaches_autograd(path, seen);
}

// A path below include/ebb or src belongs to a layer; "" for what is not ebb's.
std::string layer_of(const std::string& path) {
  static const std::set<std::string> layers = {"core",  "kernel", "autograd", "ops", "nn",
                                               "optim", "data",   "io",       "cuda"};
  if (starts(path, "ops/methods/")) return "autograd";  // the parts that class Variable is made of
  // What a library without CUDA answers, too.
  static const std::set<std::string> answers = {"cuda/cuda.h", "cuda/device.h", "cuda/graph.h",
                                                "cuda/memory.h", "cuda/stream.h"};
  if (answers.contains(path)) return "core";
  const std::string layer = path.substr(0, path.find('/'));
  if (path.find('/') == std::string::npos || !layers.contains(layer)) return "";
  return (layer == "ops" || layer == "optim") && is_kernel(path) ? "ops' kernels" : layer;
}

const std::map<std::string, std::set<std::string>>& may_include() {
  static const std::map<std::string, std::set<std::string>> rule = {
      {"core", {"core"}},
      {"kernel", {"core", "kernel"}},
      {"ops' kernels", {"core", "kernel", "ops' kernels"}},
      {"cuda", {"core", "kernel", "ops' kernels", "cuda"}},
      {"autograd", {"core", "kernel", "autograd"}},
      {"ops", {"core", "kernel", "ops' kernels", "autograd", "ops"}},
      {"nn", {"core", "kernel", "autograd", "ops", "nn"}},
      {"optim", {"core", "kernel", "ops' kernels", "autograd", "ops", "nn", "optim"}},
      {"data", {"core", "kernel", "autograd", "ops", "nn", "optim", "data", "io"}},
      {"io", {"core", "kernel", "autograd", "ops", "nn", "optim", "data", "io"}},
  };
  return rule;
}

}  // namespace

TEST_CASE("the layers include only what lies below them") {
  std::vector<std::string> complaints;
  int checked = 0;
  for (const File& file : lint::tree()) {
    const std::string layer = layer_of(below_root(file));
    if (!file.is_code() || layer.empty()) continue;
    for (const Include& include : file.includes()) {
      const std::string target = target_of(file, include), other = layer_of(target);
      if (target == "ebb.h") complaints.push_back(file.at(include.line) + " includes the umbrella header");
      if (other.empty()) continue;
      ++checked;
      if (!may_include().at(layer).contains(other)) {
        complaints.push_back(file.at(include.line) + ": " + layer + " includes " + include.path + " of " +
                             other);
      }
    }
  }
  INFO(lint::report(complaints));
  CHECK(complaints.empty());
  CHECK(checked > 50);
}

TEST_CASE("kernels of one device know nothing of the other's, nor of autograd") {
  std::vector<std::string> complaints;
  for (const File& file : lint::tree()) {
    const std::string own = below_root(file);
    if (!file.is_code() || own.empty()) continue;
    const bool cpu = is_of(own, "cpu"), cuda = is_of(own, "cuda");
    for (const Include& include : file.includes()) {
      const std::string target = target_of(file, include);
      if (target.empty()) continue;
      if ((cpu && is_of(target, "cuda")) || (cuda && is_of(target, "cpu")) ||
          ((cpu || cuda) && layer_of(target) == "autograd")) {
        complaints.push_back(file.at(include.line) + " includes " + include.path);
      }
    }
  }
  INFO(lint::report(complaints));
  CHECK(complaints.empty());
}

TEST_CASE("formulas are free of everything but arithmetic") {
  static const std::set<std::string> allowed = {"cmath",   "cstdint", "cstddef", "limits",      "numbers",
                                                "climits", "cfloat",  "bit",     "type_traits", "concepts"};
  std::vector<std::string> complaints;
  for (const File& file : lint::tree()) {
    if (!file.in("src/ops/") || !file.name().starts_with("math") || !file.ends_with(".h")) continue;
    for (const Include& include : file.includes()) {
      const std::string target = target_of(file, include);
      // Other formulas, integers that wrap and the 16-bit floats are arithmetic as well.
      const bool formulas = target.substr(target.find_last_of('/') + 1).starts_with("math");
      // So is what a formula is: for which dtypes it holds, and in which it computes.
      if (allowed.contains(include.path) || formulas || target == "kernel/wrapping.h" ||
          target == "core/half.h" || target.ends_with("/functor.h"))
        continue;
      complaints.push_back(file.at(include.line) + " includes " + include.path);
    }
  }
  INFO(lint::report(complaints));
  CHECK(complaints.empty());
}

TEST_CASE("heavy headers stay where they are needed") {
  static const std::set<std::string> heavy = {"iostream", "regex", "filesystem", "thread"};
  std::vector<std::string> complaints;
  for (const File& file : lint::tree()) {
    if (!file.is_code()) continue;
    const std::string own = below_root(file);
    for (const Include& include : file.includes()) {
      const bool library = include.path.starts_with("Eigen") || include.path.starts_with("fmt/") ||
                           include.path.starts_with("nlohmann/") || include.path.starts_with("cuda") ||
                           include.path == "zlib.h" || include.path == "omp.h";
      // A loader is a template and owns its workers.
      const bool workers = include.path == "thread" && file.name() == "data_loader.h";
      const bool in_header = file.in("include/") && (library || heavy.contains(include.path)) && !workers;
      const bool eigen = include.path.starts_with("Eigen") && file.in("src/") && !is_of(own, "cpu");
      // Hooks and the like take a std::function; what every operation includes does not pay for it.
      const bool function =
          include.path == "functional" && (file.in("include/ebb/core/") || file.in("include/ebb/ops/"));
      if (in_header || eigen || function)
        complaints.push_back(file.at(include.line) + " includes " + include.path);
    }
  }
  INFO(lint::report(complaints));
  CHECK(complaints.empty());
}
