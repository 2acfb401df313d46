// Names of modules on a profiler's timeline.
#include <ebb/nn/module.h>
#include <ebb/nn/module_range.h>

#include <string_view>
#include <utility>

namespace ebb::nn::detail {
namespace {

constinit thread_local const Module* innermost = nullptr;

// "ebb::nn::Linear encoder.0": what the handle is called, and where the module hangs.
std::string name_of(const Module& module) {
  constexpr std::string_view kImpl = "Impl";
  std::string name = module.name();
  if (name.ends_with(kImpl)) name.resize(name.size() - kImpl.size());
  const std::string path = module.path();
  return path.empty() ? name : name + ' ' + path;
}

}  // namespace

void ModuleRange::open(const Module& module) {
  if (innermost == &module) return;
  cuda::nvtx::range_push(name_of(module));
  outer_ = std::exchange(innermost, &module);
  open_ = true;
}

void ModuleRange::close() noexcept {
  cuda::nvtx::range_pop();
  innermost = outer_;
}

}  // namespace ebb::nn::detail
