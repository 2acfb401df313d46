// all_of, any_of, none_of and apply for template argument lists.
#pragma once

#include <torch/types.h>

#include <type_traits>
#include <utility>

namespace ebb {

template <bool value, class T = void>
using enable_if_t = std::enable_if_t<value, T>;
template <bool value, class T = void>
using disable_if_t = std::enable_if_t<!value, T>;
template <class T>
using decay_t = std::decay_t<T>;

template <bool... values>
struct all_of : std::bool_constant<(values && ...)> {};
template <bool... values>
struct any_of : std::bool_constant<(values || ...)> {};
template <bool... values>
struct none_of : std::bool_constant<!(values || ...)> {};

template <bool... values>
using enable_if_all_of_t = std::enable_if_t<(values && ...)>;
template <class T, class... Ts>
using disable_if_contains_t = std::enable_if_t<!(std::is_same_v<T, std::decay_t<Ts>> || ...)>;

/// Calls the function with each argument, in order.
template <class Function, class... Ts>
void apply(Function function, Ts&&... values) {
  (static_cast<void>(function(std::forward<Ts>(values))), ...);
}

}  // namespace ebb
