// maximum, minimum, fmax, fmin, atan2, hypot, logaddexp, logaddexp2, ldexp, xlogy, copysign, heaviside.
#include "ops/elementwise/formulas/binary_math.h"

#include <ebb/ops/elementwise.h>

#include "ops/common/autocast.h"
#include "ops/common/checks.h"
#include "ops/elementwise/record_binary.h"

namespace ebb {
namespace {

using namespace ops;

struct XlogyScalarSelfRule {
  static constexpr char kName[] = "XlogyBackward1";
  static constexpr Saves kSaves = Saves::input;
  Scalar self;
  Variable operator()(const Variable& g, const Variable& b) const { return g * self / b; }
};
struct XlogyScalarOtherRule {
  static constexpr char kName[] = "XlogyBackward2";
  static constexpr Saves kSaves = Saves::input;
  Scalar other;
  Variable operator()(const Variable& g, const Variable& a) const {
    const Variable product = xlogy(g, other);
    return other.to_double() > 0 ? product : where(a == 0, 0, product);
  }
};

// The rule of the first and second derivatives of hypot and atan2. Third derivatives are composed of ordinary
// ops, from coordinates on the unit circle.
struct PlaneRule {
  using Kind = PlaneDerivative::Kind;
  static constexpr unsigned kUsesA = kA | kB, kUsesB = kA | kB;
  Kind kind;
  static std::string name() { return node_name<PlaneDerivative>(); }
  Variable a(const Variable& g, const SavedValues<Variable>& k) const {
    switch (kind) {
      case Kind::hypot_a:
        return g * derivative(Kind::hypot_aa, k.a, k.b);
      case Kind::angle_a:
        return g * derivative(Kind::angle_aa, k.a, k.b);
      default:
        return g * third(k.a, k.b, kind == Kind::hypot_ab || kind == Kind::angle_ab);
    }
  }
  Variable b(const Variable& g, const SavedValues<Variable>& k) const {
    switch (kind) {
      case Kind::hypot_a:
        return g * derivative(Kind::hypot_ab, k.a, k.b);
      case Kind::angle_a:
        return g * derivative(Kind::angle_ab, k.a, k.b);
      case Kind::hypot_aa:
        return g * third(k.a, k.b, true);
      case Kind::hypot_ab:
        return g * third(k.b, k.a, true);
      case Kind::angle_aa:
        return g * third(k.a, k.b, true);
      default:
        return g * neg(third(k.a, k.b, false));
    }
  }
  static Variable derivative(Kind kind, const Variable& a, const Variable& b) {
    return run_binary(a, b, PlaneDerivative{{}, kind}, PlaneRule{kind});
  }

 private:
  /// Returns the third derivative: three times with respect to a, or, if `mixed`, twice with respect to a and
  /// once with respect to b.
  Variable third(const Variable& a, const Variable& b, bool mixed) const {
    const Variable inverse = 1 / hypot(a, b), x = a * inverse, y = b * inverse, square = inverse * inverse;
    if (kind == Kind::hypot_aa || kind == Kind::hypot_ab)
      return square * (mixed ? y * (2 * x * x - y * y) : -3 * x * y * y);
    return square * inverse * (mixed ? x * (6 * y * y - 2 * x * x) : y * (6 * x * x - 2 * y * y));
  }
};

struct HypotRule {
  static constexpr unsigned kUsesA = kA | kB, kUsesB = kA | kB;
  static std::string name() { return node_name<Hypot>(); }
  Variable a(const Variable& g, const SavedValues<Variable>& k) const {
    return g * PlaneRule::derivative(PlaneRule::Kind::hypot_a, k.a, k.b);
  }
  Variable b(const Variable& g, const SavedValues<Variable>& k) const {
    return g * PlaneRule::derivative(PlaneRule::Kind::hypot_a, k.b, k.a);
  }
};

struct Atan2Rule {
  static constexpr unsigned kUsesA = kA | kB, kUsesB = kA | kB;
  static std::string name() { return node_name<Atan2>(); }
  Variable a(const Variable& g, const SavedValues<Variable>& k) const {
    return g * PlaneRule::derivative(PlaneRule::Kind::angle_a, k.a, k.b);
  }
  Variable b(const Variable& g, const SavedValues<Variable>& k) const {
    return neg(g) * PlaneRule::derivative(PlaneRule::Kind::angle_a, k.b, k.a);
  }
};

// The rule of the derivatives of logaddexp and logaddexp2 with respect to the first operand. The derivatives
// with respect to the second operand are their negatives. Third derivatives are composed of ordinary ops.
struct LogAddExpDerivativeRule {
  static constexpr unsigned kUsesA = kA | kB, kUsesB = kA | kB;
  LogAddExpDerivative op;
  static std::string name() { return node_name<LogAddExpDerivative>(); }
  Variable a(const Variable& g, const SavedValues<Variable>& k) const {
    const Variable partial = derivative(k.a, k.b, op.base_two, true);
    if (!op.second) return g * partial;
    return g * partial * ((1 - 2 * derivative(k.a, k.b, op.base_two)) * (op.base_two ? kLn2 : 1));
  }
  Variable b(const Variable& g, const SavedValues<Variable>& k) const { return neg(a(g, k)); }
  static Variable derivative(const Variable& a, const Variable& b, bool base_two, bool second = false) {
    const LogAddExpDerivative op{{}, base_two, second};
    return run_binary(a, b, op, LogAddExpDerivativeRule{op});
  }
};

template <class Op>
struct LogAddExpRule {
  static constexpr unsigned kUsesA = kA | kB, kUsesB = kA | kB;
  static constexpr bool kBaseTwo = std::is_same_v<Op, LogAddExp2>;
  static std::string name() { return node_name<Op>(); }
  Variable a(const Variable& g, const SavedValues<Variable>& k) const {
    return g * LogAddExpDerivativeRule::derivative(k.a, k.b, kBaseTwo);
  }
  Variable b(const Variable& g, const SavedValues<Variable>& k) const {
    return g * LogAddExpDerivativeRule::derivative(k.b, k.a, kBaseTwo);
  }
};

// The rule of ldexp(a, b) = a 2^b and its derivatives. The derivative with respect to a is ldexp(1, b) of the
// same order; the derivative with respect to b is ldexp(a, b) of the next order.
struct LdexpRule {
  static constexpr unsigned kUsesA = kB, kUsesB = kA | kB;
  int order = 0;
  static std::string name() { return node_name<Ldexp>(); }
  Variable a(const Variable& g, const SavedValues<Variable>& k) const {
    return g * of(Scalar(1.0), k.b, order);
  }
  Variable b(const Variable& g, const SavedValues<Variable>& k) const { return g * of(k.a, k.b, order + 1); }
  template <class A>
  static Variable of(const A& a, const Variable& b, int order) {
    return run_binary(a, b, Ldexp{{}, order}, LdexpRule{order});
  }
};

Variable copysign_gradient(const Variable& g, const Variable& a, const Variable& out) {
  return g * (sign(a) * sign(out));
}
struct CopySignRule {
  static constexpr char kName[] = "CopysignBackward0";
  static constexpr unsigned kUsesA = kA | kOut, kUsesB = kNone;
  Variable a(const Variable& g, const SavedValues<Variable>& k) const {
    return copysign_gradient(g, k.a, k.out);
  }
  Variable b(const Variable& g, const SavedValues<Variable>&) const { return zeros_like(g); }
};
struct CopySignScalarRule {
  static constexpr char kName[] = "CopysignBackward1";
  static constexpr Saves kSaves = Saves::input;
  Scalar other;
  Variable operator()(const Variable& g, const Variable& a) const {
    return copysign_gradient(g, a, copysign(a, other));
  }
};

// Converts integer exponents to the dtype of a power of 2.0.
Variable as_exponent(const Variable& x) { return x.defined() ? x.to(result_type(x, Scalar(2.0))) : x; }

void check_floating(const char* op, const Variable& a, const Variable& b) {
  EBB_CHECK(is_floating(result_type(a, b)), op, ": expected a floating-point dtype, got ", a.dtype(), " and ",
            b.dtype(), ". Convert one with .to(kFloat).");
}

}  // namespace

Variable maximum(const Variable& self, const Variable& other) { return binary<Maximum>(self, other); }
Variable minimum(const Variable& self, const Variable& other) { return binary<Minimum>(self, other); }
Variable fmax(const Variable& self, const Variable& other) { return binary<Fmax>(self, other); }
Variable fmin(const Variable& self, const Variable& other) { return binary<Fmin>(self, other); }

Variable atan2(const Variable& self, const Variable& other) {
  EBB_AUTOCAST(atan2, self, other);
  return run_binary(self, other, Atan2(), Atan2Rule());
}
Variable& atan2_(const Variable& self, const Variable& other) {
  return run_binary_inplace(self, other, Atan2(), Atan2Rule());
}
Variable hypot(const Variable& self, const Variable& other) {
  check_floating("hypot", self, other);
  return run_binary(self, other, Hypot(), HypotRule());
}
Variable& hypot_(const Variable& self, const Variable& other) {
  check_floating("hypot_", self, other);
  return run_binary_inplace(self, other, Hypot(), HypotRule());
}
Variable logaddexp(const Variable& self, const Variable& other) {
  check_floating("logaddexp", self, other);
  return run_binary(self, other, LogAddExp(), LogAddExpRule<LogAddExp>());
}
Variable logaddexp2(const Variable& self, const Variable& other) {
  check_floating("logaddexp2", self, other);
  return run_binary(self, other, LogAddExp2(), LogAddExpRule<LogAddExp2>());
}

Variable xlogy(const Variable& self, const Variable& other) { return binary<Xlogy>(self, other); }
Variable xlogy(const Variable& self, const Scalar& other) {
  return run_unary(self, Xlogy(), XlogyScalarOtherRule{other}, other);
}
Variable xlogy(const Scalar& self, const Variable& other) {
  Variable out(apply(Xlogy(), self, other));
  if (autograd::records(other)) record_unary(other, out, XlogyScalarSelfRule{self});
  return out;
}
Variable& xlogy_(const Variable& self, const Variable& other) { return binary_inplace<Xlogy>(self, other); }
Variable& xlogy_(const Variable& self, const Scalar& other) {
  return run_unary_inplace(self, Xlogy(), XlogyScalarOtherRule{other}, other);
}

Variable copysign(const Variable& self, const Variable& other) {
  return run_binary(self, other, CopySign(), CopySignRule());
}
Variable copysign(const Variable& self, const Scalar& other) {
  return run_unary(self, CopySign(), CopySignScalarRule{other}, other);
}
Variable& copysign_(const Variable& self, const Variable& other) {
  return run_binary_inplace(self, other, CopySign(), CopySignRule());
}
Variable& copysign_(const Variable& self, const Scalar& other) {
  return run_unary_inplace(self, CopySign(), CopySignScalarRule{other}, other);
}

Variable ldexp(const Variable& self, const Variable& other) {
  return run_binary(self, as_exponent(other), Ldexp(), LdexpRule());
}
Variable& ldexp_(const Variable& self, const Variable& other) {
  return run_binary_inplace(self, as_exponent(other), Ldexp(), LdexpRule());
}

Variable heaviside(const Variable& self, const Variable& other) {
  check_same_dtype("heaviside", self, other);
  Variable out(apply(Heaviside(), self, other));
  if (autograd::records(self, other) && is_floating(out.dtype()))
    autograd::set_history(out, autograd::make_node<NoDerivativeNode<Heaviside>>(self, other));
  return out;
}
Variable& heaviside_(const Variable& self, const Variable& other) {
  check_same_dtype("heaviside_", self, other);
  return run_flat_inplace(Heaviside(), self, other);
}

}  // namespace ebb
