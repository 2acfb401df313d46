// Error functions, gamma functions, logit, sinc.
#include <ebb/ops/elementwise.h>

#include <cmath>

#include "ops/elementwise/math_special.h"
#include "ops/elementwise/record.h"

namespace ebb {
namespace {

using namespace ops;

constexpr double kTwoOverRootPi = 1.12837916709551257390;

struct ErfRule {
  static constexpr char kName[] = "ErfBackward0";
  static constexpr Keep kKeep = Keep::input;
  Variable operator()(const Variable& g, const Variable& x) const {
    return g * (exp(neg(x * x)) * kTwoOverRootPi);
  }
};
struct ErfcRule {
  static constexpr char kName[] = "ErfcBackward0";
  static constexpr Keep kKeep = Keep::input;
  Variable operator()(const Variable& g, const Variable& x) const {
    return g * (exp(neg(x * x)) * -kTwoOverRootPi);
  }
};
struct ErfinvRule {
  static constexpr char kName[] = "ErfinvBackward0";
  static constexpr Keep kKeep = Keep::result;
  Variable operator()(const Variable& g, const Variable& y) const {
    return g * (exp(y * y) * (1 / kTwoOverRootPi));
  }
};
struct LgammaRule {
  static constexpr char kName[] = "LgammaBackward0";
  static constexpr Keep kKeep = Keep::input;
  Variable operator()(const Variable& g, const Variable& x) const { return g * digamma(x); }
};
struct DigammaRule {
  static constexpr char kName[] = "DigammaBackward0";
  static constexpr Keep kKeep = Keep::input;
  Variable operator()(const Variable& g, const Variable& x) const { return g * polygamma(1, x); }
};
struct PolygammaRule {
  static constexpr char kName[] = "PolygammaBackward0";
  static constexpr Keep kKeep = Keep::input;
  std::int64_t n = 1;
  Variable operator()(const Variable& g, const Variable& x) const { return g * polygamma(n + 1, x); }
};
struct LogitRule {
  static constexpr char kName[] = "LogitBackward0";
  static constexpr Keep kKeep = Keep::input;
  double eps = -1;
  Variable operator()(const Variable& g, const Variable& x) const {
    const Variable slope = g / (x * (1 - x));
    if (eps >= 0) return where(logical_and(x >= eps, x <= 1 - eps), slope, 0.0);
    return where(logical_and(x >= 0.0, x <= 1.0), slope, NAN);
  }
};
struct BesselI0Rule {
  static constexpr char kName[] = "I0Backward0";
  static constexpr Keep kKeep = Keep::input;
  Variable operator()(const Variable& g, const Variable& x) const { return g * special_i1(x); }
};
// I1' = I0 - I1 / x, which is 1/2 at 0.
struct BesselI1Rule {
  static constexpr char kName[] = "SpecialI1Backward0";
  static constexpr Keep kKeep = Keep::input;
  Variable operator()(const Variable& g, const Variable& x) const {
    const Variable zero = x == 0.0, divisor = where(zero, 1.0, x);
    return g * where(zero, 0.5, i0(divisor) - special_i1(divisor) / divisor);
  }
};
struct SincRule {
  static constexpr char kName[] = "SincBackward0";
  static constexpr Keep kKeep = Keep::input;
  Variable operator()(const Variable& g, const Variable& x) const {
    const Variable angle = x * kPi;
    return where(x == 0.0, 0.0, g * ((angle * cos(angle) - sin(angle)) / (angle * x)));
  }
};

}  // namespace

Variable erf(const Variable& self) { return run_unary(self, Erf(), ErfRule()); }
Variable& erf_(const Variable& self) { return run_unary_inplace(self, Erf(), ErfRule()); }
Variable erfc(const Variable& self) { return run_unary(self, Erfc(), ErfcRule()); }
Variable& erfc_(const Variable& self) { return run_unary_inplace(self, Erfc(), ErfcRule()); }
Variable erfinv(const Variable& self) { return run_unary(self, Erfinv(), ErfinvRule()); }
Variable& erfinv_(const Variable& self) { return run_unary_inplace(self, Erfinv(), ErfinvRule()); }
Variable lgamma(const Variable& self) { return run_unary(self, Lgamma(), LgammaRule()); }
Variable& lgamma_(const Variable& self) { return run_unary_inplace(self, Lgamma(), LgammaRule()); }
Variable digamma(const Variable& self) { return run_unary(self, Digamma(), DigammaRule()); }
Variable& digamma_(const Variable& self) { return run_unary_inplace(self, Digamma(), DigammaRule()); }
Variable polygamma(std::int64_t n, const Variable& self) {
  EBB_CHECK(n >= 0 && n < 170, "polygamma: polygamma(n, x) does not support n = ", n,
            "; n must be in [0, 170).");
  return n == 0 ? digamma(self) : run_unary(self, Polygamma{static_cast<int>(n)}, PolygammaRule{n});
}
Variable logit(const Variable& self, optional<double> eps) {
  return run_unary(self, Logit{eps.value_or(-1)}, LogitRule{eps.value_or(-1)});
}
Variable& logit_(const Variable& self, optional<double> eps) {
  return run_unary_inplace(self, Logit{eps.value_or(-1)}, LogitRule{eps.value_or(-1)});
}
Variable i0(const Variable& self) { return run_unary(self, BesselI0(), BesselI0Rule()); }
Variable& i0_(const Variable& self) { return run_unary_inplace(self, BesselI0(), BesselI0Rule()); }
Variable special_i1(const Variable& self) { return run_unary(self, BesselI1(), BesselI1Rule()); }
Variable sinc(const Variable& self) { return run_unary(self, Sinc(), SincRule()); }
Variable& sinc_(const Variable& self) { return run_unary_inplace(self, Sinc(), SincRule()); }

}  // namespace ebb
