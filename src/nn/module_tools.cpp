// Helpers of all modules: module names in errors and in profiler ranges, and training flags, whose changes
// make compiled functions record again.
#include "nn/module_tools.h"

#include <ebb/core/warning.h>
#include <ebb/nn/module.h>
#include <ebb/nn/module_range.h>
#include <ebb/nn/training_flag.h>

#include "autograd/diagnostics.h"
#include "core/messages.h"
#include "core/tape_state.h"
#include "nn/hooks.h"

#include <cctype>
#include <sstream>
#include <string_view>
#include <utility>

namespace ebb::nn {

namespace {

const char* printed_namespace = "ebb";
const std::string kInModule = "\n  in module ";

/// Writes the template arguments of ebb's classes as part of the name: "ebb::nn::ConvImpl<2ul>" becomes
/// "ebb::nn::Conv2dImpl", and "ebb::nn::LazyImpl<ebb::nn::LinearImpl>" becomes "ebb::nn::LazyLinearImpl".
std::string written_out(const std::string& name) {
  constexpr std::string_view kOurs = "ebb::nn::", kTemplate = "Impl<", kLazy = "ebb::nn::LazyImpl<";
  if (name.starts_with(kLazy)) {
    std::string module = name.substr(kLazy.size(), name.size() - kLazy.size() - 1);
    if (module.ends_with(' ')) module.pop_back();
    return "ebb::nn::Lazy" + written_out(module).substr(kOurs.size());
  }
  const std::size_t at = name.find(kTemplate);
  if (!name.starts_with(kOurs) || !name.ends_with("ul>") || at == std::string::npos) return name;
  return name.substr(0, at) + name[at + kTemplate.size()] + "dImpl";
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

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
  return named_by_program(written_out(ebb::detail::demangled(type)));
}

std::string handle_name(const std::type_info& module) {
  std::string name = class_name(module);
  if (name.ends_with("Impl")) name.resize(name.size() - std::string_view("Impl").size());
  return name;
}

void detail::fail_empty(const std::type_info& contained) {
  const std::string name = handle_name(contained);
  ebb::detail::fail("Accessing empty ModuleHolder of ", name,
                    ". It was constructed with nullptr. Assign a module before the first use: fc = "
                    "register_module(\"fc\", ",
                    name, "(...)).");
}

void recompute_unless_called(const Module& module) {
  // Derived tensors are a cache, so a const module may recompute them. This is the reason for the const_cast.
  if (!detail::ModuleAccess::hooks(module)->computed) detail::recompute(const_cast<Module&>(module));
}

void observe_tensors(const Module& module, const std::vector<Variable*>& outputs) {
  const auto observers = detail::ModuleAccess::hooks(module)->observers;
  if (observers.empty()) return;
  variable_list tensors;
  for (const Variable* output : outputs) tensors.push_back(*output);
  for (const auto& [id, observer] : observers) observer(module, tensors);
}

std::string quoted_path(const Module& module) {
  const std::string path = module.path();
  return path.empty() ? path : "'" + path + "', ";
}

void rethrow_at(const Module& module) {
  std::ostringstream text;
  text << kInModule << quoted_path(module);
  module.pretty_print(text);
  ebb::detail::rethrow_with(std::move(text).str());
}

void detail::rethrow_in(const Module& module) {
  try {
    throw;
  } catch (const Error& error) {
    if (std::string_view(error.what()).find(kInModule) == std::string_view::npos)
      ebb::detail::rethrow_with(kInModule + quoted_path(module) + module.name());
    throw;
  }
}

}  // namespace ebb::nn

namespace ebb::nn::detail {

// Changes the flag. A flag that is off counts as a setting of the program. The flag's address is the
// setting's id, and each change adds or removes the setting.
void TrainingFlag::flip() noexcept {
  ebb::detail::toggle_setting(reinterpret_cast<std::uintptr_t>(this) + 0x9e3779b97f4a7c15u);
  on_ = !on_;
}

namespace {

constinit thread_local const Module* innermost = nullptr;

// Returns the name of the handle and the path of the module: "ebb::nn::Linear encoder.0".
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

// Registers the module with the function that describes it: "module 'encoder.0', ebb::nn::Linear".
std::uint32_t Module::PlaceLink::open(const Module& module) const {
  const auto describe = [](const void* which) {
    const Module& named = *static_cast<const Module*>(which);
    return "module " + quoted_path(named) + named.name();
  };
  const std::string& name = module.name();  // the destructor cannot find out the derived class
  if (autograd::current_place != 0 && !module.parent_.module && !module.parameters().empty())
    warn(name, " with parameters is called in the forward of ",
         autograd::module_text(autograd::current_place),
         ", but no module has registered it: parameters(), to(), train() and save() do not include it. "
         "Register it in the constructor: fc = register_module(\"fc\", ...).");
  const std::uint32_t opened = autograd::register_module_number(&module, describe);
  std::uint32_t number = 0;
  if (number_.compare_exchange_strong(number, opened, std::memory_order_relaxed)) return opened;
  autograd::release_module_number(opened);  // another thread has opened the link first
  return number;
}
void Module::PlaceLink::close(std::uint32_t number) noexcept { autograd::release_module_number(number); }

}  // namespace ebb::nn
