// What the modules share: their names, where errors happened.
#include "nn/module_tools.h"

#include <cxxabi.h>

#include <cstdlib>
#include <sstream>
#include <string_view>

#include "nn/hooks.h"

namespace ebb::nn {

namespace {
std::string located(const Module& module, const Error& error) {
  std::ostringstream text;
  const std::string path = module.path();
  text << error.what() << "\n  in module " << (path.empty() ? "" : "'" + path + "', ");
  module.pretty_print(text);
  return text.str();
}
}  // namespace

std::string class_name(const std::type_info& type) {
  int status = 0;
  char* text = abi::__cxa_demangle(type.name(), nullptr, nullptr, &status);
  std::string name = status == 0 ? text : type.name();
  std::free(text);
  // Ours are templates of the number of dimensions: "ebb::nn::ConvImpl<2ul>".
  constexpr std::string_view kOurs = "ebb::nn::", kTemplate = "Impl<";
  const std::size_t at = name.find(kTemplate);
  if (name.starts_with(kOurs) && name.ends_with("ul>") && at != std::string::npos)
    return name.substr(0, at) + name.substr(at + kTemplate.size(), 1) + "dImpl";
  return name;
}

std::string handle_name(const std::type_info& module) {
  std::string name = class_name(module);
  name.resize(name.size() - std::string_view("Impl").size());
  return name;
}

void recompute_unless_called(const Module& module) {
  // Derived tensors are a cache: computing them leaves the module as it was.
  if (!detail::ModuleAccess::hooks(module)->computed) detail::recompute(const_cast<Module&>(module));
}

void fail_at(const Module& module, const Error& error) { throw Error(located(module, error)); }
void fail_at(const Module& module, const IndexError& error) { throw IndexError(located(module, error)); }
void fail_at(const Module& module, const NotImplementedError& error) {
  throw NotImplementedError(located(module, error));
}

}  // namespace ebb::nn
