// class_name: the name of a module's class for people.
#pragma once

#include <ebb/nn/module.h>

#include <algorithm>
#include <string>

namespace ebb::watch {

/// Returns the class of a module without namespaces and the suffix Impl: "Linear", "Block<int>".
inline std::string class_name(const nn::Module& module) {
  std::string name = module.name();
  const std::size_t end = std::min(name.find('<'), name.size());
  const std::string arguments = name.substr(end);
  name.resize(end);
  name.erase(0, name.rfind(':') + 1);
  if (name.ends_with("Impl")) name.resize(name.size() - 4);
  return name + arguments;
}

}  // namespace ebb::watch
