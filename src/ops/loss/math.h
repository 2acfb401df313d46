// Formulas of the pointwise losses, for scalars on host and device and for Variables, which record a graph. A
// formula has value(x, y, p) and two functions for its derivatives: derivative(x, y, p) with respect to x,
// and target_derivative(x, y, p) with respect to y. p is the pos_weight of binary_cross_entropy_with_logits,
// otherwise 1.
#pragma once

#include "kernel/carrier.h"

// Default visibility, because plugins fill the kernel slots that are named after these types.
#pragma GCC visibility push(default)
namespace ebb::math {

using ops::abs;
using ops::constant;
using ops::exp;
using ops::List;
using ops::log;
using ops::log1p;
using ops::log_sigmoid;
using ops::LogisticPair;
using ops::sigmoid;
using ops::where;

/// Returns max(x, low); NaN stays NaN.
template <class X>
EBB_HD X at_least(const X& x, double low) {
  return where(x < constant<X>(low), constant<X>(low), x);
}
/// Returns the sign of x: -1, 0 or 1.
template <class T>
  requires std::is_arithmetic_v<T>
EBB_HD T sign(T x) {
  return static_cast<T>((x > 0) - (x < 0));
}

/// Base of losses that depend on x - y only. The derivative with respect to y is the negative of the
/// derivative with respect to x.
template <class Loss>
struct DifferenceLoss {
  template <class X, class P>
  EBB_HD X derivative(const X& x, const X& y, const P&) const {
    return static_cast<const Loss&>(*this).slope_at(X(x - y));
  }
  template <class X, class P>
  EBB_HD X target_derivative(const X& x, const X& y, const P& p) const {
    return -derivative(x, y, p);
  }
};

struct L1Loss : DifferenceLoss<L1Loss> {
  template <class T>
  EBB_HD T value(T x, T y, T) const {
    return abs(x - y);
  }
  template <class X>
  EBB_HD X slope_at(const X& d) const {
    return sign(d);
  }
};

struct MseLoss : DifferenceLoss<MseLoss> {
  template <class T>
  EBB_HD T value(T x, T y, T) const {
    return (x - y) * (x - y);
  }
  template <class X>
  EBB_HD X slope_at(const X& d) const {
    return d * 2;
  }
};

struct SmoothL1Loss : DifferenceLoss<SmoothL1Loss> {
  double beta = 1;
  SmoothL1Loss(double b = 1) : beta(b) {}
  template <class T>
  EBB_HD T value(T x, T y, T) const {
    const T d = abs(x - y), b = T(beta);
    return d < b ? T(0.5) * d * d / b : d - T(0.5) * b;
  }
  template <class X>
  EBB_HD X slope_at(const X& d) const {
    return where(abs(d) >= constant<X>(beta), X(sign(d)), X(d / constant<X>(beta)));  // NaN stays NaN
  }
};

struct HuberLoss : DifferenceLoss<HuberLoss> {
  double delta = 1;
  HuberLoss(double d = 1) : delta(d) {}
  template <class T>
  EBB_HD T value(T x, T y, T) const {
    const T d = abs(x - y), b = T(delta);
    return d <= b ? T(0.5) * d * d : b * (d - T(0.5) * b);
  }
  template <class X>
  EBB_HD X slope_at(const X& d) const {
    return where(abs(d) >= constant<X>(delta), X(sign(d) * constant<X>(delta)), d);  // NaN stays NaN
  }
};

/// KL divergence. x is a log-probability. y is a probability or, with log_target, a log-probability.
struct KlDivLoss {
  bool log_target = false;
  template <class T>
  EBB_HD T value(T x, T y, T) const {
    if (log_target) return exp(y) * (y - x);
    return where(y == T(0), T(0), T(y * log(y))) - y * x;
  }
  template <class X, class P>
  EBB_HD X derivative(const X&, const X& y, const P&) const {
    return log_target ? -exp(y) : -y;
  }
  template <class X, class P>
  EBB_HD X target_derivative(const X& x, const X& y, const P&) const {
    return log_target ? exp(y) * (y - x + 1) : log(y) + 1 - x;
  }
};

struct SoftMarginLoss {
  template <class T>
  EBB_HD T value(T x, T y, T) const {
    return -log_sigmoid(x * y);
  }
  template <class X, class P>
  EBB_HD X derivative(const X& x, const X& y, const P&) const {
    return -y * sigmoid(X(-x * y));
  }
  template <class X, class P>
  EBB_HD X target_derivative(const X& x, const X& y, const P& p) const {
    return derivative(y, x, p);
  }
};

struct BceLoss {
  template <class T>
  EBB_HD T value(T x, T y, T) const {
    return (y - 1) * at_least(T(log1p(-x)), -100) - y * at_least(T(log(x)), -100);
  }
  template <class X, class P>
  EBB_HD X derivative(const X& x, const X& y, const P&) const {
    return (x - y) / at_least(X((1 - x) * x), 1e-12);
  }
  template <class X, class P>
  EBB_HD X target_derivative(const X& x, const X&, const P&) const {
    return at_least(X(log1p(-x)), -100) - at_least(X(log(x)), -100);
  }
};

/// A weight of 1. Formulas omit the multiplication by this weight.
struct Unweighted {};

struct BceWithLogitsLoss {
  template <class T>
  EBB_HD T value(T x, T y, T p) const {
    const T both = log1p(exp(-abs(x))), zero = constant<T>(0);
    return (1 - y) * (where(x > 0, x, zero) + both) + p * y * (where(x > 0, zero, T(-x)) + both);
  }
  template <class X, class P>
  EBB_HD X derivative(const X& x, const X& y, const P& p) const {
    const LogisticPair<X> at(x);
    if constexpr (std::is_same_v<P, Unweighted>)
      return (1 - y) * at.share - y * at.rest;
    else
      return (1 - y) * at.share - p * y * at.rest;
  }
  template <class X, class P>
  EBB_HD X target_derivative(const X& x, const X&, const P& p) const {
    if constexpr (std::is_same_v<P, Unweighted>)
      return -x;
    else
      return (1 - p) * log_sigmoid(x) - x;
  }
};

using PlainLosses = List<L1Loss, MseLoss, SmoothL1Loss, HuberLoss>;
using LogarithmicLosses = List<KlDivLoss, SoftMarginLoss, BceLoss, BceWithLogitsLoss>;

template <class F, class Losses>
inline constexpr bool kIsOf = false;
template <class F, class... Loss>
inline constexpr bool kIsOf<F, List<Loss...>> = (std::is_same_v<F, Loss> || ...);

}  // namespace ebb::math
#pragma GCC visibility pop
