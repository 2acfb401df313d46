// Hooks of modules: functions that run around a call, in backward, and when a state is saved or loaded.
#pragma once

#include <ebb/autograd/variable.h>
#include <ebb/nn/module_range.h>
#include <ebb/nn/ordered_dict.h>
#include <ebb/nn/removable_handle.h>

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace ebb::nn {

struct IncompatibleKeys;

namespace detail {
struct ModuleHooks;

using PreHook = std::function<optional<variable_list>(Module&, const variable_list&)>;
using PostHook = std::function<optional<variable_list>(Module&, const variable_list&, const variable_list&)>;

/// Wraps a hook that returns nothing, a tensor or several tensors, so that it returns an optional list of
/// replacements.
template <class Hook>
auto replacing(Hook hook) {
  return [hook = std::move(hook)](Module& module, const auto&... lists) mutable -> optional<variable_list> {
    using Result = decltype(hook(module, lists...));
    if constexpr (std::is_void_v<Result>) {
      hook(module, lists...);
      return nullopt;
    } else if constexpr (std::is_same_v<Result, Variable>) {
      return variable_list{hook(module, lists...)};
    } else {
      return hook(module, lists...);
    }
  };
}

/// The hooks of a module, or null. A copy of the module gets copies of the hooks.
class EBB_API HooksPointer {
 public:
  HooksPointer() = default;
  HooksPointer(const HooksPointer& other);
  HooksPointer& operator=(const HooksPointer& other);
  HooksPointer(HooksPointer&&) noexcept = default;
  HooksPointer& operator=(HooksPointer&&) noexcept = default;
  ~HooksPointer() = default;

  explicit operator bool() const noexcept { return hooks_ != nullptr; }
  ModuleHooks* operator->() const noexcept { return hooks_.get(); }
  /// Returns the hooks, and creates them on first use.
  const std::shared_ptr<ModuleHooks>& get_or_create();
  /// Makes the pointer null if all hooks have been removed, so that calls are as fast as without hooks.
  void reset_if_unused() noexcept;

 private:
  std::shared_ptr<ModuleHooks> hooks_;
};

}  // namespace detail

using StateDictPreHook = std::function<void(const Module&, const std::string& prefix)>;
using StateDictPostHook =
    std::function<void(const Module&, OrderedDict<std::string, Variable>& state, const std::string& prefix)>;
using LoadStateDictPreHook =
    std::function<void(Module&, OrderedDict<std::string, Variable>& state, const std::string& prefix)>;
using LoadStateDictPostHook = std::function<void(Module&, IncompatibleKeys& keys)>;

namespace detail {

template <class T>
inline constexpr bool carries_tensors = std::is_same_v<T, Variable>;
template <class T>
inline constexpr bool carries_tensors<optional<T>> = carries_tensors<T>;
template <class T, class A>
inline constexpr bool carries_tensors<std::vector<T, A>> = carries_tensors<T>;
template <class T, std::size_t N>
inline constexpr bool carries_tensors<std::array<T, N>> = carries_tensors<T>;
template <class A, class B>
inline constexpr bool carries_tensors<std::pair<A, B>> = carries_tensors<A> || carries_tensors<B>;
template <class... T>
inline constexpr bool carries_tensors<std::tuple<T...>> = (carries_tensors<T> || ...);

/// Appends the addresses of all tensors in x.
template <class T>
void gather(T& x, std::vector<Variable*>& places) {
  if constexpr (!carries_tensors<T>) {
    return;
  } else if constexpr (std::is_same_v<T, Variable>) {
    places.push_back(&x);
  } else if constexpr (requires { x.has_value(); }) {
    if (x.has_value()) gather(*x, places);
  } else if constexpr (requires { x.begin(); }) {
    for (auto& each : x) gather(each, places);
  } else {
    std::apply([&](auto&... each) { (gather(each, places), ...); }, x);
  }
}

/// Runs the hooks around a call of a module. The constructor runs the hooks before the call; they may change
/// the tensors to which `inputs` point. finish() runs the hooks after the call.
class EBB_API HookedCall {
 public:
  HookedCall(Module& module, const std::vector<Variable*>& inputs);
  ~HookedCall();
  HookedCall(const HookedCall&) = delete;
  HookedCall& operator=(const HookedCall&) = delete;
  void finish(const std::vector<Variable*>& outputs);

 private:
  struct Backward;

  Module& module_;
  std::shared_ptr<ModuleHooks> hooks_;
  bool computes_;  // the call computes derived tensors of the module
  variable_list inputs_;
  std::shared_ptr<Backward> backward_;
};

/// Arguments with tensors are copied, so that hooks can replace the tensors. Other arguments are forwarded.
template <class Arg>
using Held = std::conditional_t<carries_tensors<std::remove_cvref_t<Arg>>, std::remove_cvref_t<Arg>, Arg&&>;

/// Returns forward(args...) and runs the module's hooks around it. `forward` is a function that calls the
/// module's forward.
template <class M, class Forward, class... Args>
auto hooked(M& module, const Forward& forward, Args&&... args)
    -> decltype(forward(std::forward<Args>(args)...)) {
  using Result = decltype(forward(std::forward<Args>(args)...));
  std::tuple<Held<Args>...> held(std::forward<Args>(args)...);
  return std::apply(
      [&](auto&... arg) -> Result {
        std::vector<Variable*> inputs, outputs;
        (gather(arg, inputs), ...);
        HookedCall call(module, inputs);
        if constexpr (std::is_void_v<Result>) {
          forward(static_cast<Args&&>(arg)...);
          call.finish(outputs);
        } else {
          Result result = forward(static_cast<Args&&>(arg)...);
          if constexpr (!std::is_reference_v<Result>) gather(result, outputs);
          call.finish(outputs);
          return result;
        }
      },
      held);
}

/// Calls module.forward(args...) with its hooks in a ModuleRange. An error names the module.
template <class M, class... Args>
auto call_module(M& module, Args&&... args) -> decltype(module.forward(std::forward<Args>(args)...)) {
  const ModuleRange range(module);
  try {
    if (module.has_hooks()) [[unlikely]]
      return hooked(
          module,
          [&](auto&&... arg) -> decltype(auto) {
            return module.forward(std::forward<decltype(arg)>(arg)...);
          },
          std::forward<Args>(args)...);
    return module.forward(std::forward<Args>(args)...);
  } catch (const Error&) {
    rethrow_in(module);
  }
}

}  // namespace detail

}  // namespace ebb::nn
