// What the modules share: their names, where errors happened.
#include "nn/module_tools.h"

#include <cxxabi.h>

#include <cctype>
#include <cstdlib>
#include <sstream>
#include <string_view>
#include <utility>

#include "nn/hooks.h"

namespace ebb::nn {

namespace {

const char* printed_namespace = "ebb";

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

std::string located(const Module& module, const Error& error) {
  std::ostringstream text;
  const std::string path = module.path();
  text << error.what() << "\n  in module " << (path.empty() ? "" : "'" + path + "', ");
  module.pretty_print(text);
  return text.str();
}

}  // namespace

void detail::set_printed_namespace(const char* name) noexcept { printed_namespace = name; }

std::string named_by_program(std::string name) {
  constexpr std::string_view kOurs = "ebb::";
  const std::string theirs = std::string(printed_namespace) + "::";
  for (std::size_t at = name.find(kOurs); at != std::string::npos; at = name.find(kOurs, at)) {
    const bool whole = at == 0 || !is_word(name[at - 1]);
    if (whole) name.replace(at, kOurs.size(), theirs);
    at += whole ? theirs.size() : kOurs.size();
  }
  return name;
}

std::string class_name(const std::type_info& type) {
  int status = 0;
  char* text = abi::__cxa_demangle(type.name(), nullptr, nullptr, &status);
  std::string name = status == 0 ? text : type.name();
  std::free(text);
  // Ours are templates of the number of dimensions: "ebb::nn::ConvImpl<2ul>".
  constexpr std::string_view kOurs = "ebb::nn::", kTemplate = "Impl<";
  const std::size_t at = name.find(kTemplate);
  if (name.starts_with(kOurs) && name.ends_with("ul>") && at != std::string::npos)
    name = name.substr(0, at) + name.substr(at + kTemplate.size(), 1) + "dImpl";
  return named_by_program(std::move(name));
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
