// Common parts of the update rules. A rule updates one element in float or double. `state` contains the
// states of the element, `StateMask` is the mask of the present states, and kStateMasks lists the masks that
// the rule supports. The coefficients of a step are an aggregate of doubles with an alias Rule.
#pragma once

#include <ebb/core/half.h>

namespace ebb::math {

constexpr int kMostStates = 3;

/// Returns the value that a rule updates: the master copy `master`, or `parameter` if it differs from the
/// rounded `master`.
template <class T>
EBB_HD float master_of(float master, T parameter) {
  const auto p = static_cast<float>(parameter);
  return static_cast<float>(static_cast<T>(master)) == p ? master : p;
}

/// True if a rule supports master copies of 16-bit parameters. Such a rule has a member kMaster.
template <class Rule>
constexpr bool kHasMaster = requires { Rule::kMaster; };

/// Returns the larger value. If one of the values is NaN, returns NaN.
template <class T>
EBB_HD T larger(T a, T b) {
  return a > b || a != a ? a : b;
}

}  // namespace ebb::math
