#include "nn/module_tools.h"

#include <sstream>

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

void fail_at(const Module& module, const Error& error) { throw Error(located(module, error)); }
void fail_at(const Module& module, const IndexError& error) { throw IndexError(located(module, error)); }
void fail_at(const Module& module, const NotImplementedError& error) {
  throw NotImplementedError(located(module, error));
}

}  // namespace ebb::nn
