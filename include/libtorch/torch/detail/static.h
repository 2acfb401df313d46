// Type traits for templates over modules.
#pragma once

#include <torch/csrc/utils/variadic.h>
#include <torch/nn/module.h>

#include <type_traits>
#include <utility>

namespace ebb::detail {

template <class T>
using is_module = std::is_base_of<nn::Module, std::decay_t<T>>;
template <class T, class Result = void>
using enable_if_module_t = std::enable_if_t<is_module<T>::value, Result>;
template <class T, class Result = void>
using disable_if_module_t = std::enable_if_t<!is_module<T>::value, Result>;

template <class... Ts>
constexpr bool check_not_lvalue_references() {
  return !(std::is_lvalue_reference_v<Ts> || ...);
}

/// The type that M::forward returns for these arguments; void if there is no such forward.
template <class M, class... Args>
struct return_type_of_forward {
  using type = void;
};
template <class M, class... Args>
  requires requires(M& module, Args&&... args) { module.forward(std::forward<Args>(args)...); }
struct return_type_of_forward<M, Args...> {
  using type = decltype(std::declval<M&>().forward(std::declval<Args>()...));
};
template <class M, class... Args>
using return_type_of_forward_t = typename return_type_of_forward<M, Args...>::type;
template <class M, class... Args>
using has_forward =
    std::bool_constant<requires(M& module, Args&&... args) { module.forward(std::forward<Args>(args)...); }>;

}  // namespace ebb::detail
