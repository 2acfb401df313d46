// What a formula of the family is, and what follows from it.
//
// To add an op of one tensor: write its struct in the header of its group and add it to the list at that
// header's end, write the public function in the group's .cpp, declare it in include/ebb/ops/elementwise, and
// give it a row in tests/optable. Kernels for both devices, the CPU's vector lanes, the one-pass kernel of
// the gradient and all higher derivatives follow:
//
//   /// e^-x^2.
//   struct Gaussian : Unary {
//     static constexpr char kName[] = "gaussian";
//     template <class X> EBB_HD X value(const X& x) const { return exp(-(x * x)); }
//     template <class X> EBB_HD X slope(const X& x) const { return x * -2 * exp(-(x * x)); }
//   };
//
// `value` and `slope` are written once for three carriers X: a number, on host and device; cpu::Lanes,
// several numbers in a register; and Variable, for gradients that are recorded themselves. So a formula uses
// operators, & and | of conditions, and the functions of kernel/carrier.h.
#pragma once

#include "kernel/carrier.h"
#include "kernel/type_list.h"

#include <array>
#include <cstdint>

// Visible, because the kernel slots named after these types are what plugins fill.
#pragma GCC visibility push(default)
namespace ebb::ops {

constexpr double kPi = 3.14159265358979323846;

/// The dtypes an op is defined for. `floating` ops take integers too, converted to the default dtype; strict
/// ones refuse.
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

/// What the gradient of an op of one tensor is a function of: of g alone, or also of the input or the result.
enum class Keep : std::uint8_t { nothing, input, result };

/// How the CPU runs a formula: as a loop that the compiler vectorises by itself, in lanes, or by a call of a
/// function for every element.
enum class Run : std::uint8_t { loop, lanes, calls };

/// The base of formulas of one operand. Members of the struct beyond kName and `value`:
///   kNode     the name of the node, where it is not kName's: "Log1PBackward0"
///   slope     the derivative, of the input or, with Keep::result, of the result
///   gradient  instead of slope: the gradient itself, gradient(g, x); where g stops it says so by where(),
///   since
///             inf * 0 is NaN. Ops without either have a gradient of 0
///   bend      bend(g, x), of Variables alone: g times the derivative of the slope. The gradient is then
///             recorded as one op, named kBackward, and slope or gradient is asked of numbers alone. Written
///             with gradient_of(op, g, x) of smooth formulas, derivatives of any order are exact
///   late      with kHasLate, late(g, y), of Variables alone: the gradient from the result, for an input that
///             has been written to since, by the op in place or by another, as PyTorch permits. Less exact
///   kStraight true if bend is 0 everywhere
struct Unary {
  static constexpr Types kTypes = Types::floating;
  static constexpr Keep kKeep = Keep::input;
  static constexpr Run kRun = Run::lanes;
  static constexpr bool kStraight = false, kHasLate = false;
};
/// Of arithmetic and choices alone.
struct PlainUnary : Unary {
  static constexpr Run kRun = Run::loop;
};

/// What the gradients of two and three operands may look at; those that an op does not name are not there.
template <class X>
struct Kept {
  X a, b, c, out;
};
constexpr unsigned kNone = 0, kA = 1, kB = 2, kC = 4, kOut = 8;

/// The bases of formulas of two and three operands. Members for the gradient, where the op has one that is
/// made for its formula alone:
///   kUsesA, kUsesB           what it looks at: kA | kOut; of three operands kUses[3]
///   gradient_a, gradient_b   of (g, kept); of three operands gradient(operand, g, kept)
///   kRoundsOnce              true if no gradient is rounded by more than one op
///   kCondition               true if the first operand is a condition, a bool whatever the op computes in
struct Binary {
  static constexpr Types kTypes = Types::all;
  static constexpr Run kRun = Run::loop;
  static constexpr bool kCondition = false;
};
struct Ternary : Binary {};

template <class Op>
constexpr bool has_slope = requires(const Op& op, float x) { op.slope(x); };
template <class Op>
constexpr bool has_gradient = has_slope<Op> || requires(const Op& op, float x) { op.gradient(x, x); } ||
                              requires(const Op& op, float x) { op.gradient(x); };
template <class Op>
constexpr bool has_bend = Op::kStraight || requires(const Op& op, float x) { op.bend(x, x); };
/// Whether the gradient has a kernel of its own. Where an element costs a call of a function there is little
/// to win.
template <class Op>
concept Fused =
    has_gradient<Op> && std::is_base_of_v<Unary, Op> && Op::kKeep != Keep::nothing && Op::kRun != Run::calls;

/// "exp_backward", or what the op says.
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

/// The gradient of Op from that of its result, g, and from what was kept: an op of two operands.
template <class Op>
struct Gradient : Binary {
  static constexpr const char* kName = kBackwardName<Op>.data();
  static constexpr Types kTypes = Types::floating;
  // What the result alone determines is arithmetic.
  static constexpr Run kRun = Op::kKeep == Keep::result ? Run::loop : Op::kRun;
  Op op;
  template <class X>
  EBB_HD X value(const X& g, const X& kept) const {
    if constexpr (has_slope<Op>)
      return g * op.slope(kept);
    else
      return op.gradient(g, kept);
  }
};

/// A formula as a function object, which is what kernels of CUDA take.
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
/// The gradients that have kernels, of the ops of a list.
template <class Ops>
using Gradients = typename GradientsOf<Ops>::type;

}  // namespace ebb::ops
#pragma GCC visibility pop
