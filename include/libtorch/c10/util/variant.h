// c10::variant, and its functions for ebb's OneOf.
#pragma once

#include <ebb/nn/enums.h>

#include <torch/csrc/namespaces.h>

#include <utility>
#include <variant>

namespace c10 {

using std::bad_variant_access;
using std::get;
using std::get_if;
using std::holds_alternative;
using std::monostate;
using std::variant;
using std::variant_alternative_t;
using std::variant_size;
using std::visit;

/// Returns the tag if it is the chosen one, else null:
/// `c10::get_if<torch::enumtype::kMean>(&options.reduction())`.
template <class Tag, class... Tags>
const Tag* get_if(const ebb::nn::OneOf<Tags...>* choice) {
  static constexpr Tag tag{};
  return choice && choice->template is<Tag>() ? &tag : nullptr;
}

template <class Tag, class... Tags>
bool holds_alternative(const ebb::nn::OneOf<Tags...>& choice) {
  return choice.template is<Tag>();
}

/// Returns the tag. Throws std::bad_variant_access if another one is chosen.
template <class Tag, class... Tags>
const Tag& get(const ebb::nn::OneOf<Tags...>& choice) {
  const Tag* const tag = c10::get_if<Tag>(&choice);
  return tag ? *tag : throw std::bad_variant_access();
}

/// Calls `visitor` with the chosen tag. The result type of the visitor must be the same for all tags.
template <class Visitor, class First, class... More>
decltype(auto) visit(Visitor&& visitor, const ebb::nn::OneOf<First, More...>& choice) {
  if constexpr (sizeof...(More) > 0) {
    if (!choice.template is<First>()) {
      const auto rest = [&]<class Next, class... Others>(auto&& again, Next next,
                                                         Others... others) -> decltype(visitor(First{})) {
        if constexpr (sizeof...(Others) > 0)
          if (!choice.template is<Next>()) return again(again, others...);
        return visitor(next);
      };
      return rest(rest, More{}...);
    }
  }
  return visitor(First{});
}

}  // namespace c10
