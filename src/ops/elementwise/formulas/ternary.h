// Formulas of where, lerp, addcmul, addcdiv, and clamp with tensors as bounds.
#pragma once

#include "ops/elementwise/formulas/arithmetic.h"
#include "ops/elementwise/formulas/extremes.h"

// Default visibility, because plugins fill the kernel slots that are named after these types.
#pragma GCC visibility push(default)
namespace ebb::ops {

struct Where : Ternary {
  static constexpr char kName[] = "where";
  static constexpr bool kCondition = true;
  template <class T>
  EBB_HD T value(bool condition, T a, T b) const {
    // Selects with bit operations, because the compiler translates a conditional expression to a branch
    // around a load, which does not vectorise.
    if constexpr (sizeof(T) == 4)
      return pick<std::uint32_t>(condition, a, b);
    else if constexpr (sizeof(T) == 8)
      return pick<std::uint64_t>(condition, a, b);
    else
      return condition ? a : b;
  }

 private:
  template <class Bits, class T>
  EBB_HD static T pick(bool condition, T a, T b) {
    const Bits mask = Bits(0) - static_cast<Bits>(condition);
    return __builtin_bit_cast(T,
                              (__builtin_bit_cast(Bits, a) & mask) | (__builtin_bit_cast(Bits, b) & ~mask));
  }
};

/// lerp: a + weight (b - a), computed from the nearer end, so that the result for weight 1 is b.
struct Lerp : Ternary {
  static constexpr char kName[] = "lerp";
  static constexpr Types kTypes = Types::floating;
  static constexpr char kNode[] = "LerpBackward1";
  static constexpr unsigned kUses[3] = {kC, kC, kA | kB};
  template <class T>
  EBB_HD T value(T a, T b, T weight) const {
    return std::fabs(weight) < T(0.5) ? a + weight * (b - a) : b - (b - a) * (T(1) - weight);
  }
  template <class X>
  EBB_HD X gradient(int operand, const X& g, const SavedValues<X>& k) const {
    return operand == 0 ? g * (1 - k.c) : operand == 1 ? g * k.c : g * (k.b - k.a);
  }
};

struct AddCMul : Ternary {
  static constexpr char kName[] = "addcmul";
  static constexpr Types kTypes = Types::numeric;
  static constexpr unsigned kUses[3] = {kNone, kC, kB};
  Number factor;
  template <class T>
  EBB_HD T value(T x, T a, T b) const {
    return Add().value(x, Mul().value(Mul().value(factor.as<T>(), a), b));
  }
  template <class X>
  EBB_HD X gradient(int operand, const X& g, const SavedValues<X>& k) const {
    return operand == 0 ? g : g * ((operand == 1 ? k.c : k.b) * constant<X>(factor));
  }
};

struct AddCDiv : Ternary {
  static constexpr char kName[] = "addcdiv";
  static constexpr Types kTypes = Types::floating;
  static constexpr unsigned kUses[3] = {kNone, kC, kB | kC};
  Number factor;
  template <class T>
  EBB_HD T value(T x, T a, T b) const {
    return x + factor.as<T>() * a / b;
  }
  template <class X>
  EBB_HD X gradient(int operand, const X& g, const SavedValues<X>& k) const {
    if (operand == 0) return g;
    if (operand == 1) return g * (constant<X>(factor) / k.c);
    return -g * ((k.b * constant<X>(factor)) / k.c / k.c);
  }
};

/// clamp with tensors as bounds; a NaN bound gives NaN. The gradient goes to the operand that is the result.
/// If x equals one of two different bounds, x and this bound get half each. If x equals both bounds, x gets
/// all of the gradient, as in torch 2.15.
struct ClampBetween : Ternary {
  static constexpr char kName[] = "clamp";
  static constexpr unsigned kUses[3] = {kA | kB | kC, kA | kB | kC, kA | kB | kC};
  static constexpr bool kRoundsOnce = true;
  template <class T>
  EBB_HD T value(T x, T low, T high) const {
    return Minimum().value(Maximum().value(x, low), high);
  }
  template <class X>
  EBB_HD X gradient(int operand, const X& g, const SavedValues<X>& k) const {
    const auto apart = k.b < k.c;
    if (operand == 0)
      return winner_gradient(g, ((k.a == k.b) | (k.a == k.c)) & apart, (k.a < k.b) | (k.a > k.c));
    if (operand == 1)
      return where((k.a < k.b) & (k.b <= k.c), g, where((k.a == k.b) & apart, g / 2, constant<X>(0)));
    return where(((k.a > k.c) & (k.b <= k.c)) | (k.c < k.b), g,
                 where((k.a == k.c) & apart, g / 2, constant<X>(0)));
  }
};

using TernaryOps = List<Where, Lerp, AddCMul, AddCDiv, ClampBetween>;

}  // namespace ebb::ops
#pragma GCC visibility pop
