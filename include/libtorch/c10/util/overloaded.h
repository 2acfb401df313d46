// c10::overloaded: combines several lambdas to one visitor.
#pragma once

#include <torch/csrc/namespaces.h>

#include <utility>

namespace c10 {
namespace detail {

template <class... Visitors>
struct Overloaded : Visitors... {
  using Visitors::operator()...;
};
template <class... Visitors>
Overloaded(Visitors...) -> Overloaded<Visitors...>;

}  // namespace detail

template <class... Visitors>
auto overloaded(Visitors&&... visitors) {
  return detail::Overloaded{std::forward<Visitors>(visitors)...};
}

}  // namespace c10
