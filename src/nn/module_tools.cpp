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

constinit thread_local int clone_depth = 0;
}  // namespace

CloneDepth::CloneDepth(const Module& module) {
  constexpr int kDeepest = 1000;
  EBB_CHECK(clone_depth < kDeepest, "clone: ", module.name(), " is nested more than ", kDeepest,
            " levels deep. Make a new one and load_state_dict() into it.");
  ++clone_depth;
}
CloneDepth::~CloneDepth() { --clone_depth; }

void fail_at(const Module& module, const Error& error) { throw Error(located(module, error)); }
void fail_at(const Module& module, const IndexError& error) { throw IndexError(located(module, error)); }
void fail_at(const Module& module, const NotImplementedError& error) {
  throw NotImplementedError(located(module, error));
}

}  // namespace ebb::nn
