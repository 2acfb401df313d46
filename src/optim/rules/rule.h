// Parts that update rules share. A rule says what becomes of one element, in float or double: `state` is what
// is remembered of it, `Kept` says which of the states are there, and kKept lists the combinations that the
// rule knows. The numbers of a step, in double, are an aggregate that names its rule.
#pragma once

#include <ebb/core/half.h>

namespace ebb::math {

constexpr int kMostStates = 3;

/// The value that a rule starts from: the master copy, or the parameter where that is not the copy's rounded
/// value.
template <class T>
EBB_HD float master_of(float master, T parameter) {
  const auto p = static_cast<float>(parameter);
  return static_cast<float>(static_cast<T>(master)) == p ? master : p;
}

/// Whether a rule works on master copies of 16-bit parameters: it then has a kMaster.
template <class Rule>
constexpr bool kHasMaster = requires { Rule::kMaster; };

/// The larger one, or the one that is not a number.
template <class T>
EBB_HD T larger(T a, T b) {
  return a > b || a != a ? a : b;
}

}  // namespace ebb::math
