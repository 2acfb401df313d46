// The update rules, and the numbers of a step of any of them.
#pragma once

#include "optim/rules/adagrad.h"
#include "optim/rules/adam.h"
#include "optim/rules/sgd.h"

#include <utility>
#include <variant>

namespace ebb::math {

/// A step of any rule. A new rule is added here; its kernels follow.
using Step = std::variant<SgdStep, AdamStep, RmspropStep, AdagradStep, NadamStep, RadamStep, AdamaxStep,
                          AdadeltaStep, AsgdStep, RpropStep, LionStep>;

/// Calls f<Kept>() for the one of Rule's combinations that `kept` is.
template <class Rule, class F>
void with_kept(unsigned kept, const F& f) {
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    static_cast<void>(((kept == Rule::kKept[I] && (f.template operator()<Rule::kKept[I]>(), true)) || ...));
  }(std::make_index_sequence<std::size(Rule::kKept)>());
}

}  // namespace ebb::math
