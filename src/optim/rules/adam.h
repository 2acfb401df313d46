// Update rules of Adam (AdamW), NAdam, RAdam and Adamax, which average gradients and their magnitudes.
#pragma once

#include "optim/rules/rule.h"

#include <cmath>

namespace ebb::math {

/// The coefficients of the two moments. take() adds a gradient to the moments.
template <class T>
struct Moments {
  T beta1, rest1, beta2, rest2;

  template <class Step>
  explicit Moments(const Step& how)
      : beta1(T(how.beta1)), rest1(T(1 - how.beta1)), beta2(T(how.beta2)), rest2(T(1 - how.beta2)) {}
  EBB_HD void take(T g, T& mean, T& square) const {
    mean = mean * beta1 + g * rest1;
    square = square * beta2 + g * g * rest2;
  }
};

template <class T>
struct Adam;
/// State 0: the mean. State 1: the mean square. State 2 (with amsgrad): the largest mean square so far.
struct AdamStep {
  template <class T>
  using Rule = Adam<T>;
  double beta1, beta2, eps;
  double weight_decay;  // added to the gradient
  double shrink;        // the factor of the parameter before the update
  double step_size;     // lr / (1 - beta1^t)
  double root;          // sqrt(1 - beta2^t)
};

template <class T>
struct Adam : Moments<T> {
  static constexpr unsigned kStateMasks[] = {0b11, 0b111};
  static constexpr bool kMaster = true;
  T eps, weight_decay, shrink, step_size, root;

  explicit Adam(const AdamStep& how)
      : Moments<T>(how),
        eps(T(how.eps)),
        weight_decay(T(how.weight_decay)),
        shrink(T(how.shrink)),
        step_size(T(how.step_size)),
        root(T(how.root)) {}

  template <unsigned StateMask>
  EBB_HD T update(T p, T g, T (&state)[kMostStates]) const {
    T &mean = state[0], &square = state[1];
    p *= shrink;
    if (weight_decay != T(0)) g += weight_decay * p;
    this->take(g, mean, square);
    T v = square;
    if constexpr ((StateMask & 0b100u) != 0) {
      T& largest = state[2];
      largest = larger(v, largest);
      v = largest;
    }
    return p - step_size * mean / (std::sqrt(v) / root + eps);
  }
};

template <class T>
struct Nadam;
/// State 0: the mean. State 1: the mean square.
struct NadamStep {
  template <class T>
  using Rule = Nadam<T>;
  double beta1, beta2, eps, weight_decay, shrink;
  double of_gradient, of_mean;  // the factors of the gradient and of the mean in the step
  double root;                  // sqrt(1 - beta2^t)
};

template <class T>
struct Nadam : Moments<T> {
  static constexpr unsigned kStateMasks[] = {0b11};
  T eps, weight_decay, shrink, of_gradient, of_mean, root;

  explicit Nadam(const NadamStep& how)
      : Moments<T>(how),
        eps(T(how.eps)),
        weight_decay(T(how.weight_decay)),
        shrink(T(how.shrink)),
        of_gradient(T(how.of_gradient)),
        of_mean(T(how.of_mean)),
        root(T(how.root)) {}

  template <unsigned StateMask>
  EBB_HD T update(T p, T g, T (&state)[kMostStates]) const {
    T &mean = state[0], &square = state[1];
    p *= shrink;
    if (weight_decay != T(0)) g += weight_decay * p;
    this->take(g, mean, square);
    return p - (of_gradient * g + of_mean * mean) / (std::sqrt(square) / root + eps);
  }
};

template <class T>
struct Radam;
/// State 0: the mean. State 1: the mean square.
struct RadamStep {
  template <class T>
  using Rule = Radam<T>;
  double beta1, beta2, eps, weight_decay, shrink, step_size;
  bool rectified;  // true if the estimate of the variance is good enough to divide by it
};

template <class T>
struct Radam : Moments<T> {
  static constexpr unsigned kStateMasks[] = {0b11};
  T eps, weight_decay, shrink, step_size;
  bool rectified;

  explicit Radam(const RadamStep& how)
      : Moments<T>(how),
        eps(T(how.eps)),
        weight_decay(T(how.weight_decay)),
        shrink(T(how.shrink)),
        step_size(T(how.step_size)),
        rectified(how.rectified) {}

  template <unsigned StateMask>
  EBB_HD T update(T p, T g, T (&state)[kMostStates]) const {
    T &mean = state[0], &square = state[1];
    p *= shrink;
    if (weight_decay != T(0)) g += weight_decay * p;
    this->take(g, mean, square);
    return p - step_size * (rectified ? mean / (std::sqrt(square) + eps) : mean);
  }
};

template <class T>
struct Adamax;
/// State 0: the mean. State 1: the largest absolute gradient, which decays with beta2.
struct AdamaxStep {
  template <class T>
  using Rule = Adamax<T>;
  double beta1, beta2, eps, weight_decay, step_size;
};

template <class T>
struct Adamax {
  static constexpr unsigned kStateMasks[] = {0b11};
  T beta1, rest1, beta2, eps, weight_decay, step_size;

  explicit Adamax(const AdamaxStep& how)
      : beta1(T(how.beta1)),
        rest1(T(1 - how.beta1)),
        beta2(T(how.beta2)),
        eps(T(how.eps)),
        weight_decay(T(how.weight_decay)),
        step_size(T(how.step_size)) {}

  template <unsigned StateMask>
  EBB_HD T update(T p, T g, T (&state)[kMostStates]) const {
    T &mean = state[0], &largest = state[1];
    if (weight_decay != T(0)) g += weight_decay * p;
    mean = mean * beta1 + g * rest1;
    largest = larger(largest * beta2, std::abs(g) + eps);
    return p - step_size * mean / largest;
  }
};

}  // namespace ebb::math
