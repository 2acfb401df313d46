// The definition of elementwise formulas, and the properties that are derived from them.
//
// To add a unary op, write its struct in the header of its group, and add the struct to the list at the end
// of the header. Write the public function in the group's .cpp and declare it in
// include/ebb/ops/elementwise. Add a row for it to tests/optable. Kernels for both devices, the CPU's vector
// kernels, the one-pass kernel of the gradient and all higher derivatives are generated from the struct:
//
//   /// e^-x^2.
//   struct Gaussian : Unary {
//     static constexpr char kName[] = "gaussian";
//     template <class X> EBB_HD X value(const X& x) const { return exp(-(x * x)); }
//     template <class X> EBB_HD X derivative(const X& x) const { return x * -2 * exp(-(x * x)); }
//   };
//
// `value` and `derivative` are written once for three types X: a scalar, on host and device; cpu::Lanes,
// several scalars in a register; and Variable, for gradients that are recorded themselves. A formula may
// therefore use only operators, & and | of conditions, and the functions of kernel/carrier.h.
#pragma once

#include "kernel/carrier.h"

#include <array>
#include <cstdint>

// Default visibility, because plugins fill the kernel slots that are named after these types.
#pragma GCC visibility push(default)
namespace ebb::ops {

constexpr double kPi = 3.14159265358979323846;

/// The dtypes for which an op is defined. `floating` ops also take integers, which are converted to the
/// default dtype; `strict_floating` ops reject them.
enum class Types : std::uint8_t { floating, strict_floating, numeric, all, integral, integral_bool };

constexpr bool has_type(Types types, DType dtype) {
  switch (types) {
    case Types::floating:
    case Types::strict_floating:
      return is_floating(dtype);
    case Types::numeric:
      return dtype != kBool;
    case Types::integral:
      return is_integral(dtype);
    case Types::integral_bool:
      return !is_floating(dtype);
    default:
      return true;
  }
}

/// The value that the gradient of a unary op needs in addition to g: none, the input, or the result.
enum class Saves : std::uint8_t { nothing, input, result };

/// The CPU implementation of a formula: a loop that the compiler vectorises, vector lanes, or a function call
/// for each element.
enum class Run : std::uint8_t { loop, lanes, calls };

/// The base of unary formulas. Members of the struct in addition to kName and `value`:
///   kNode              the name of the node, if it does not follow from kName: "Log1PBackward0"
///   derivative         the derivative, as a function of the input or, with Saves::result, of the result
///   gradient           gradient(g, x), in place of `derivative`: the gradient itself. If the gradient is
///                      0 at some x, the 0 is selected with where(), because inf * 0 is NaN. Ops without
///                      `derivative` and `gradient` have a gradient of 0
///   second_derivative  second_derivative(g, x), only for Variables: g times the second derivative. The
///                      gradient is then recorded as one op, named kBackward, and `derivative` or
///                      `gradient` is called only with scalars. If the member is written with
///                      gradient_of(op, g, x) of smooth formulas, derivatives of any order are exact
///   late               late(g, y), with kHasLate and only for Variables: the gradient as a function of
///                      the result. It is less exact, and used only if the input was overwritten, by this
///                      op in place or by a later op, as PyTorch permits
///   half_bits          half_bits(x): the bits of `value` for the bits x of a 16-bit number, on the CPU
///   kStraight          true if the second derivative is 0 everywhere
///   kFuses             false if the gradient has no kernel, because it is computed one element at a time
struct Unary {
  static constexpr Types kTypes = Types::floating;
  static constexpr Saves kSaves = Saves::input;
  static constexpr Run kRun = Run::lanes;
  static constexpr bool kStraight = false, kHasLate = false, kFuses = true;
};
/// Base of unary formulas that consist of arithmetic and selections only.
struct PlainUnary : Unary {
  static constexpr Run kRun = Run::loop;
};

/// The saved values that gradients of binary and ternary ops may use. A value that the op does not declare is
/// undefined.
template <class X>
struct SavedValues {
  X a, b, c, out;
};
constexpr unsigned kNone = 0, kA = 1, kB = 2, kC = 4, kOut = 8;

/// The bases of formulas with two and three operands. Members for the gradient, if the formula defines it:
///   kUsesA, kUsesB           the saved values that it uses, for example kA | kOut; ternary ops: kUses[3]
///   gradient_a, gradient_b   functions of (g, kept); ternary ops: gradient(operand, g, kept)
///   kRoundsOnce              true if no gradient is rounded by more than one op
///   kCondition               true if the first operand is a condition: bool for every dtype of the op
struct Binary {
  static constexpr Types kTypes = Types::all;
  static constexpr Run kRun = Run::loop;
  static constexpr bool kCondition = false;
};
struct Ternary : Binary {};

template <class Op>
constexpr bool has_derivative = requires(const Op& op, float x) { op.derivative(x); };
template <class Op>
constexpr bool has_gradient = has_derivative<Op> || requires(const Op& op, float x) { op.gradient(x, x); } ||
                              requires(const Op& op, float x) { op.gradient(x); };
template <class Op>
constexpr bool has_second_derivative =
    Op::kStraight || requires(const Op& op, float x) { op.second_derivative(x, x); };
/// True if the gradient has its own kernel. For formulas that call a function for each element the benefit
/// would be small.
template <class Op>
concept Fused = has_gradient<Op> && std::is_base_of_v<Unary, Op> && Op::kSaves != Saves::nothing &&
                Op::kRun != Run::calls && Op::kFuses;

/// The name of the gradient op: Op::kBackward if it exists, otherwise Op's name with "_backward".
template <class Op>
constexpr auto kBackwardName = [] {
  if constexpr (requires { Op::kBackward; }) {
    return std::to_array(Op::kBackward);
  } else {
    constexpr char end[] = "_backward";
    std::array<char, sizeof(Op::kName) - 1 + sizeof(end)> text{};
    for (std::size_t i = 0; i < text.size(); ++i)
      text[i] = i + 1 < sizeof(Op::kName) ? Op::kName[i] : end[i + 1 - sizeof(Op::kName)];
    return text;
  }
}();

/// The gradient of Op as a binary op. The operands are g, the gradient of the result, and the saved input or
/// result.
template <class Op>
struct Gradient : Binary {
  static constexpr const char* kName = kBackwardName<Op>.data();
  static constexpr Types kTypes = Types::floating;
  // If the derivative is a function of the result, it consists of arithmetic, which the compiler vectorises.
  static constexpr Run kRun = Op::kSaves == Saves::result ? Run::loop : Op::kRun;
  Op op;
  template <class X>
  EBB_HD X value(const X& g, const X& kept) const {
    if constexpr (has_derivative<Op>)
      return g * op.derivative(kept);
    else
      return op.gradient(g, kept);
  }
};

/// A formula as a function object, for the CUDA kernels.
template <class Op>
struct Call {
  Op op;
  template <class... X>
  EBB_HD auto operator()(X... x) const {
    return op.value(x...);
  }
};

template <class Ops>
struct GradientsOf;
template <class... Ops>
struct GradientsOf<List<Ops...>> {
  using type = Join<List<>, std::conditional_t<Fused<Ops>, List<Gradient<Ops>>, List<>>...>;
};
/// The ops of a list whose gradients have kernels.
template <class Ops>
using Gradients = typename GradientsOf<Ops>::type;

}  // namespace ebb::ops
#pragma GCC visibility pop
