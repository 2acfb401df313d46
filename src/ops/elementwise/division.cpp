// Division with rounding, fmod and remainder.
#include "ops/elementwise/formulas/division.h"

#include <ebb/ops/elementwise.h>

#include "ops/common/checks.h"
#include "ops/elementwise/record_binary.h"

namespace ebb {
namespace {

using namespace ops;

struct RoundedDivRule {
  static constexpr char kName[] = "DivBackward2";
  static constexpr unsigned kUsesA = kNone, kUsesB = kNone;
  Variable a(const Variable& g, const SavedValues<Variable>&) const { return zeros_like(g); }
  Variable b(const Variable& g, const SavedValues<Variable>&) const { return zeros_like(g); }
};
struct RoundedDivScalarRule {
  static constexpr char kName[] = "DivBackward3";
  static constexpr Saves kSaves = Saves::nothing;
  Variable operator()(const Variable& g) const { return zeros_like(g); }
};

struct FmodRule {
  static constexpr char kName[] = "FmodBackward1";
  static constexpr unsigned kUsesA = kNone, kUsesB = kA | kB;
  Variable a(const Variable& g, const SavedValues<Variable>&) const { return g; }
  Variable b(const Variable& g, const SavedValues<Variable>& k) const {
    return neg(g) * div(k.a, k.b, "trunc");
  }
};
struct FmodScalarRule {
  static constexpr char kName[] = "FmodBackward0";
  static constexpr Saves kSaves = Saves::nothing;
  Variable operator()(const Variable& g) const { return g; }
};
struct RemainderRule {
  static constexpr char kName[] = "RemainderBackward1";
  static constexpr unsigned kUsesA = kNone, kUsesB = kA | kB;
  Variable a(const Variable& g, const SavedValues<Variable>&) const { return g; }
  Variable b(const Variable& g, const SavedValues<Variable>& k) const {
    return neg(g) * div(k.a, k.b, "floor");
  }
};
struct RemainderScalarRule {
  static constexpr char kName[] = "RemainderBackward0";
  static constexpr Saves kSaves = Saves::nothing;
  Variable operator()(const Variable& g) const { return g; }
};

bool is_zero(const Scalar& s) { return s.equal(0); }
constexpr char kZeroDivision[] =
    "ZeroDivisionError: an integer divisor is 0. Convert to a floating dtype, or mask it.";
void check_not_zero(const char* op, const Variable& x) { check_true(op, x != 0, kZeroDivision); }
void check_not_zero(const char* op, const Scalar& s) { EBB_CHECK(!is_zero(s), op, ": ", kZeroDivision); }

// Throws for a scalar divisor of 0 if the result is an integer, because integers have no infinity.
template <class A, class B>
void check_divisor(const char* op, const A& a, const B& b) {
  if (!is_floating(result_type(a, b))) check_not_zero(op, b);
}

enum class Rounding { none, trunc, floor };

Rounding rounding(optional<std::string_view> mode) {
  if (!mode) return Rounding::none;
  if (*mode == "trunc") return Rounding::trunc;
  EBB_CHECK(*mode == "floor",
            "div: expected rounding_mode to be one of None, 'trunc', or 'floor' but found '", *mode, "'.");
  return Rounding::floor;
}

template <class Op, class B>
Variable floor_divided(const Variable& a, const B& b, const Op& op) {
  check_divisor("floor_divide", a, b);
  Variable out(apply(op, a, b));
  if ((autograd::records(a) || is_recorded(b)) && is_floating(out.dtype()))
    autograd::set_history(out, autograd::make_node<NoDerivativeNode<Op>>(a, edge_of(b)));
  return out;
}

}  // namespace

Variable div(const Variable& self, const Variable& other, optional<std::string_view> rounding_mode) {
  const Rounding mode = rounding(rounding_mode);
  if (mode == Rounding::none) return div(self, other);
  check_divisor("div", self, other);
  if (mode == Rounding::trunc) return run_binary(self, other, DivTrunc(), RoundedDivRule());
  return run_binary(self, other, DivFloor(), RoundedDivRule());
}

Variable div(const Variable& self, const Scalar& other, optional<std::string_view> rounding_mode) {
  const Rounding mode = rounding(rounding_mode);
  if (mode == Rounding::none) return div(self, other);
  check_divisor("div", self, other);
  if (mode == Rounding::trunc) return run_unary(self, DivTrunc(), RoundedDivScalarRule(), other);
  return run_unary(self, DivFloor(), RoundedDivScalarRule(), other);
}

Variable& div_(const Variable& self, const Variable& other, optional<std::string_view> rounding_mode) {
  const Rounding mode = rounding(rounding_mode);
  if (mode == Rounding::none) return div_(self, other);
  check_divisor("div_", self, other);
  if (mode == Rounding::trunc) return run_binary_inplace(self, other, DivTrunc(), RoundedDivRule());
  return run_binary_inplace(self, other, DivFloor(), RoundedDivRule());
}

Variable& div_(const Variable& self, const Scalar& other, optional<std::string_view> rounding_mode) {
  const Rounding mode = rounding(rounding_mode);
  if (mode == Rounding::none) return div_(self, other);
  check_divisor("div_", self, other);
  if (mode == Rounding::trunc) return run_unary_inplace(self, DivTrunc(), RoundedDivScalarRule(), other);
  return run_unary_inplace(self, DivFloor(), RoundedDivScalarRule(), other);
}

Variable floor_divide(const Variable& self, const Variable& other) {
  return floor_divided(self, other, DivFloor());
}
Variable floor_divide(const Variable& self, const Scalar& other) {
  return floor_divided(self, other, DivFloor());
}
Variable& floor_divide_(const Variable& self, const Variable& other) {
  check_divisor("floor_divide_", self, other);
  return run_binary_inplace(self, other, DivFloor(), RoundedDivRule());
}
Variable& floor_divide_(const Variable& self, const Scalar& other) {
  check_divisor("floor_divide_", self, other);
  return run_unary_inplace(self, DivFloor(), RoundedDivScalarRule(), other);
}

Variable fmod(const Variable& self, const Variable& other) {
  check_divisor("fmod", self, other);
  return run_binary(self, other, Fmod(), FmodRule());
}
Variable fmod(const Variable& self, const Scalar& other) {
  check_divisor("fmod", self, other);
  return run_unary(self, Fmod(), FmodScalarRule(), other);
}
Variable& fmod_(const Variable& self, const Variable& other) {
  check_divisor("fmod_", self, other);
  return run_binary_inplace(self, other, Fmod(), FmodRule());
}
Variable& fmod_(const Variable& self, const Scalar& other) {
  check_divisor("fmod_", self, other);
  return run_unary_inplace(self, Fmod(), FmodScalarRule(), other);
}

Variable remainder(const Variable& self, const Variable& other) {
  check_divisor("remainder", self, other);
  return run_binary(self, other, Remainder(), RemainderRule());
}
Variable remainder(const Variable& self, const Scalar& other) {
  check_divisor("remainder", self, other);
  return run_unary(self, Remainder(), RemainderScalarRule(), other);
}
Variable remainder(const Scalar& self, const Variable& other) {
  check_divisor("remainder", self, other);
  return run_binary(self, other, Remainder(), RemainderRule());
}
Variable& remainder_(const Variable& self, const Variable& other) {
  check_divisor("remainder_", self, other);
  return run_binary_inplace(self, other, Remainder(), RemainderRule());
}
Variable& remainder_(const Variable& self, const Scalar& other) {
  check_divisor("remainder_", self, other);
  return run_unary_inplace(self, Remainder(), RemainderScalarRule(), other);
}

}  // namespace ebb
