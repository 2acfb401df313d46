// The update rules of all optimizers, and Step, the coefficients of one step.
#pragma once

#include "optim/rules/adagrad.h"
#include "optim/rules/adam.h"
#include "optim/rules/sgd.h"

#include <utility>
#include <variant>

namespace ebb::math {

/// The step of any rule. Add the step of a new rule to this list; the kernels of all listed rules are
/// instantiated.
using Step = std::variant<SgdStep, AdamStep, RmspropStep, AdagradStep, NadamStep, RadamStep, AdamaxStep,
                          AdadeltaStep, AsgdStep, RpropStep, LionStep>;

/// Calls f<StateMask>() with StateMask = state_mask, which must be one of the rule's kStateMasks.
template <class Rule, class F>
void with_state_mask(unsigned state_mask, const F& f) {
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    static_cast<void>(
        ((state_mask == Rule::kStateMasks[I] && (f.template operator()<Rule::kStateMasks[I]>(), true)) ||
         ...));
  }(std::make_index_sequence<std::size(Rule::kStateMasks)>());
}

}  // namespace ebb::math
