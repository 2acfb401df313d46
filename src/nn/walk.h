// Module::walk: iterates over the tree of modules with an explicit stack, so that deep trees cannot overflow
// the call stack.
#pragma once

#include <ebb/nn/module.h>

namespace ebb::nn {

/// Calls visit(path, child) for every module below this one, parents first. `path` begins with `prefix`. If
/// `visit` adds modules below `child`, they are visited too.
template <class Visit>
void Module::walk(const std::string& prefix, const Visit& visit) const {
  struct Level {
    std::vector<OrderedDict<std::string, std::shared_ptr<Module>>::Item> children;
    std::size_t next, path;  // the child to visit, and the length of the path to their parent
  };
  std::string path = prefix;
  std::vector<Level> levels;
  levels.push_back({children_.items(), 0, path.size()});
  while (!levels.empty()) {
    Level& level = levels.back();
    path.resize(level.path);
    if (level.next == level.children.size()) {
      levels.pop_back();
      continue;
    }
    const auto& child = level.children[level.next++];
    const std::shared_ptr<Module> module = child.value();
    if (!path.empty()) path += '.';
    path += child.key();
    visit(path, module);
    levels.push_back({module->children_.items(), 0, path.size()});
  }
}

}  // namespace ebb::nn
