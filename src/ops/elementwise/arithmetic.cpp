// Addition, subtraction, multiplication and true division.
#include "ops/elementwise/formulas/arithmetic.h"

#include <ebb/ops/elementwise.h>

#include "ops/elementwise/record_binary.h"

namespace ebb {
namespace {

using namespace ops;

bool is_one(const Scalar& s) { return s.equal(1); }
Variable scaled(const Variable& g, const Scalar& s) { return is_one(s) ? g : g * s; }

void check_alpha(const char* op, DType result, const Scalar& alpha) {
  EBB_CHECK(!alpha.is_boolean() || result == kBool, op,
            ": Boolean alpha only supported for Boolean results; pass 1.");
  EBB_CHECK(is_floating(result) || !alpha.is_floating_point(), op,
            ": For integral input tensors, argument alpha must not be a floating point number; got alpha = ",
            alpha, " for ", result, ".");
}

void check_sub(const Variable& a, DType other) {
  EBB_CHECK(a.dtype() != kBool || other != kBool,
            "sub: Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or "
            "`logical_xor()` operator instead.");
  EBB_CHECK(a.dtype() != kBool && other != kBool,
            "sub: Subtraction, the `-` operator, with a bool tensor is not supported; got ", a.dtype(),
            " and ", other,
            ". To invert a mask, use `~` or `logical_not()`; to count with it, convert it with .to().");
}

struct AddRule {
  static constexpr char kName[] = "AddBackward0";
  static constexpr unsigned kUsesA = kNone, kUsesB = kNone;
  Scalar alpha = 1;
  Variable a(const Variable& g, const SavedValues<Variable>&) const { return g; }
  Variable b(const Variable& g, const SavedValues<Variable>&) const { return scaled(g, alpha); }
};

struct AddScalarRule {
  static constexpr char kName[] = "AddBackward1";
  static constexpr Saves kSaves = Saves::nothing;
  Variable operator()(const Variable& g) const { return g; }
};

struct SubRule {
  static constexpr char kName[] = "SubBackward0";
  static constexpr unsigned kUsesA = kNone, kUsesB = kNone;
  Scalar alpha = 1;
  Variable a(const Variable& g, const SavedValues<Variable>&) const { return g; }
  Variable b(const Variable& g, const SavedValues<Variable>&) const {
    return is_one(alpha) ? neg(g) : g * (-alpha);
  }
};

struct SubScalarRule {
  static constexpr char kName[] = "SubBackward1";
  static constexpr Saves kSaves = Saves::nothing;
  Variable operator()(const Variable& g) const { return g; }
};

struct RsubRule {
  static constexpr char kName[] = "RsubBackward0";
  static constexpr unsigned kUsesA = kNone, kUsesB = kNone;
  Scalar alpha = 1;
  Variable a(const Variable& g, const SavedValues<Variable>&) const {
    return is_one(alpha) ? neg(g) : g * (-alpha);
  }
  Variable b(const Variable& g, const SavedValues<Variable>&) const { return g; }
};

struct RsubScalarRule {
  static constexpr char kName[] = "RsubBackward1";
  static constexpr Saves kSaves = Saves::nothing;
  Scalar alpha = 1;
  Variable operator()(const Variable& g) const { return is_one(alpha) ? neg(g) : g * (-alpha); }
};

struct MulScalarRule {
  static constexpr char kName[] = "MulBackward1";
  static constexpr Saves kSaves = Saves::nothing;
  Scalar other;
  Variable operator()(const Variable& g) const { return g * other; }
};

struct DivScalarRule {
  static constexpr char kName[] = "DivBackward1";
  static constexpr Saves kSaves = Saves::nothing;
  Scalar other;
  Variable operator()(const Variable& g) const { return g / other; }
};

}  // namespace

Variable add(const Variable& self, const Variable& other, const Scalar& alpha) {
  if (is_one(alpha)) return run_binary(self, other, Add(), AddRule{alpha});
  check_alpha("add", result_type(self, other), alpha);
  return run_binary(self, other, AddScaled{{}, alpha}, AddRule{alpha});
}

Variable add(const Variable& self, const Scalar& other, const Scalar& alpha) {
  if (is_one(alpha)) return run_unary(self, Add(), AddScalarRule(), other);
  check_alpha("add", result_type(self, other), alpha);
  return run_unary(self, AddScaled{{}, alpha}, AddScalarRule(), other);
}

Variable& add_(const Variable& self, const Variable& other, const Scalar& alpha) {
  if (is_one(alpha)) return run_binary_inplace(self, other, Add(), AddRule{alpha});
  check_alpha("add_", result_type(self, other), alpha);
  return run_binary_inplace(self, other, AddScaled{{}, alpha}, AddRule{alpha});
}

Variable& add_(const Variable& self, const Scalar& other, const Scalar& alpha) {
  if (is_one(alpha)) return run_unary_inplace(self, Add(), AddScalarRule(), other);
  check_alpha("add_", result_type(self, other), alpha);
  return run_unary_inplace(self, AddScaled{{}, alpha}, AddScalarRule(), other);
}

Variable sub(const Variable& self, const Variable& other, const Scalar& alpha) {
  check_sub(self, other.dtype());
  if (is_one(alpha)) return run_binary(self, other, Sub(), SubRule{alpha});
  check_alpha("sub", result_type(self, other), alpha);
  return run_binary(self, other, AddScaled{{}, -alpha}, SubRule{alpha});
}

Variable sub(const Variable& self, const Scalar& other, const Scalar& alpha) {
  check_sub(self, other.dtype());
  if (is_one(alpha)) return run_unary(self, Sub(), SubScalarRule(), other);
  check_alpha("sub", result_type(self, other), alpha);
  return run_unary(self, AddScaled{{}, -alpha}, SubScalarRule(), other);
}

Variable& sub_(const Variable& self, const Variable& other, const Scalar& alpha) {
  check_sub(self, other.dtype());
  if (is_one(alpha)) return run_binary_inplace(self, other, Sub(), SubRule{alpha});
  check_alpha("sub_", result_type(self, other), alpha);
  return run_binary_inplace(self, other, AddScaled{{}, -alpha}, SubRule{alpha});
}

Variable& sub_(const Variable& self, const Scalar& other, const Scalar& alpha) {
  check_sub(self, other.dtype());
  if (is_one(alpha)) return run_unary_inplace(self, Sub(), SubScalarRule(), other);
  check_alpha("sub_", result_type(self, other), alpha);
  return run_unary_inplace(self, AddScaled{{}, -alpha}, SubScalarRule(), other);
}

Variable rsub(const Variable& self, const Variable& other, const Scalar& alpha) {
  check_sub(self, other.dtype());
  check_alpha("rsub", result_type(self, other), alpha);
  return run_binary(self, other, RsubScaled{{}, alpha}, RsubRule{alpha});
}

Variable rsub(const Variable& self, const Scalar& other, const Scalar& alpha) {
  check_sub(self, other.dtype());
  check_alpha("rsub", result_type(self, other), alpha);
  return run_unary(self, RsubScaled{{}, alpha}, RsubScalarRule{alpha}, other);
}

Variable operator-(const Scalar& a, const Variable& b) {
  check_sub(b, a.dtype());
  return run_binary(a, b, Sub(), SubRule());
}

Variable mul(const Variable& self, const Variable& other) { return binary<Mul>(self, other); }
Variable mul(const Variable& self, const Scalar& other) {
  return run_unary(self, Mul(), MulScalarRule{other}, other);
}
Variable& mul_(const Variable& self, const Variable& other) { return binary_inplace<Mul>(self, other); }
Variable& mul_(const Variable& self, const Scalar& other) {
  return run_unary_inplace(self, Mul(), MulScalarRule{other}, other);
}

Variable div(const Variable& self, const Variable& other) { return binary<Div>(self, other); }
Variable div(const Variable& self, const Scalar& other) {
  return run_unary(self, Div(), DivScalarRule{other}, other);
}
Variable& div_(const Variable& self, const Variable& other) { return binary_inplace<Div>(self, other); }
Variable& div_(const Variable& self, const Scalar& other) {
  return run_unary_inplace(self, Div(), DivScalarRule{other}, other);
}
Variable operator/(const Scalar& a, const Variable& b) { return binary<Div>(a, b); }

}  // namespace ebb
