// Formulas of the pointwise losses: value(x, y, p) and its derivative slope(x, y, p) by x. p is
// bce-with-logits' weight of positive labels, 1 elsewhere. T is float or double.
#pragma once

#include <ebb/core/half.h>

#include <cmath>

// Visible, because the kernel slots named after these types are what plugins fill.
#pragma GCC visibility push(default)
namespace ebb::math {

template <class T>
EBB_HD inline T at_least(T x, T low) {
  return x < low ? low : x;  // NaN stays
}

struct L1Loss {
  template <class T>
  EBB_HD T value(T x, T y, T) const {
    return std::abs(x - y);
  }
  template <class T>
  EBB_HD T slope(T x, T y, T) const {
    const T d = x - y;
    return d > T(0) ? T(1) : d < T(0) ? T(-1) : T(0);
  }
};

/// x is a logarithm of a probability, y a probability or its logarithm.
struct KlDivLoss {
  bool log_target = false;
  template <class T>
  EBB_HD T value(T x, T y, T) const {
    if (log_target) return std::exp(y) * (y - x);
    return (y == T(0) ? T(0) : y * std::log(y)) - y * x;
  }
  template <class T>
  EBB_HD T slope(T, T y, T) const {
    return log_target ? -std::exp(y) : -y;
  }
};

struct MseLoss {
  template <class T>
  EBB_HD T value(T x, T y, T) const {
    return (x - y) * (x - y);
  }
  template <class T>
  EBB_HD T slope(T x, T y, T) const {
    return T(2) * (x - y);
  }
};

struct SmoothL1Loss {
  double beta = 1;
  template <class T>
  EBB_HD T value(T x, T y, T) const {
    const T d = std::abs(x - y), b = T(beta);
    return d < b ? T(0.5) * d * d / b : d - T(0.5) * b;
  }
  template <class T>
  EBB_HD T slope(T x, T y, T) const {
    const T d = x - y, b = T(beta);
    return d <= -b ? T(-1) : d >= b ? T(1) : d / b;
  }
};

struct HuberLoss {
  double delta = 1;
  template <class T>
  EBB_HD T value(T x, T y, T) const {
    const T d = std::abs(x - y), b = T(delta);
    return d <= b ? T(0.5) * d * d : b * (d - T(0.5) * b);
  }
  template <class T>
  EBB_HD T slope(T x, T y, T) const {
    const T d = x - y, b = T(delta);
    return d <= -b ? -b : d >= b ? b : d;
  }
};

/// log(1 + exp(x)) without overflow.
template <class T>
EBB_HD inline T softplus(T x) {
  return (x > T(0) ? x : T(0)) + std::log1p(std::exp(-std::abs(x)));
}
template <class T>
EBB_HD inline T sigmoid_of(T x) {
  return T(1) / (T(1) + std::exp(-x));
}

struct SoftMarginLoss {
  template <class T>
  EBB_HD T value(T x, T y, T) const {
    return softplus(-x * y);
  }
  template <class T>
  EBB_HD T slope(T x, T y, T) const {
    return -y * sigmoid_of(-x * y);
  }
};

struct BceLoss {
  template <class T>
  EBB_HD T value(T x, T y, T) const {
    return (y - T(1)) * at_least(T(std::log1p(-x)), T(-100)) - y * at_least(T(std::log(x)), T(-100));
  }
  template <class T>
  EBB_HD T slope(T x, T y, T) const {
    return (x - y) / at_least((T(1) - x) * x, T(1e-12));
  }
};

struct BceWithLogitsLoss {
  template <class T>
  EBB_HD T value(T x, T y, T p) const {
    return (T(1) - y) * x + ((p - T(1)) * y + T(1)) * softplus(-x);
  }
  template <class T>
  EBB_HD T slope(T x, T y, T p) const {
    const T positive = p * y;
    return (positive + T(1) - y) * sigmoid_of(x) - positive;
  }
};

}  // namespace ebb::math
#pragma GCC visibility pop
