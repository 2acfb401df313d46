// Names of modules on a profiler's timeline and in errors of backward.
#include <ebb/core/warning.h>
#include <ebb/nn/module.h>
#include <ebb/nn/module_range.h>

#include <string_view>
#include <utility>

#include "autograd/places.h"
#include "nn/module_tools.h"

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

namespace ebb::nn {

// "module 'encoder.0', ebb::nn::Linear".
std::uint32_t Module::PlaceLink::open(const Module& module) const {
  const auto describe = [](const void* which) {
    const Module& named = *static_cast<const Module*>(which);
    return "module " + quoted_path(named) + named.name();
  };
  const std::string& name = module.name();  // while the class is whole
  if (autograd::current_place != 0 && !module.parent_.module && !module.parameters().empty())
    warn(name, " with parameters is called in the forward of ", autograd::place_text(autograd::current_place),
         ", but no module has registered it: parameters(), to(), train() and save() do not see it. "
         "Register it in the constructor: fc = register_module(\"fc\", ...).");
  const std::uint32_t opened = autograd::open_place(&module, describe);
  std::uint32_t number = 0;
  if (number_.compare_exchange_strong(number, opened, std::memory_order_relaxed)) return opened;
  autograd::close_place(opened);  // another thread was first
  return number;
}
void Module::PlaceLink::close(std::uint32_t number) noexcept { autograd::close_place(number); }

}  // namespace ebb::nn
