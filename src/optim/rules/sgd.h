// Update rules of SGD, ASGD, Rprop and Lion, which follow the gradient or its sign.
#pragma once

#include "optim/rules/rule.h"

#include <cmath>

namespace ebb::math {

template <class T>
struct Sgd;
/// State 0 (with momentum): the velocity.
struct SgdStep {
  template <class T>
  using Rule = Sgd<T>;
  double lr, momentum, dampening, weight_decay;
  bool nesterov;
  bool first;  // true in the first step, which sets the velocity to the gradient
};

template <class T>
struct Sgd {
  static constexpr unsigned kStateMasks[] = {0b0, 0b1};
  T lr, momentum, keep, weight_decay;  // keep is 1 - dampening
  bool nesterov, first;

  explicit Sgd(const SgdStep& how)
      : lr(T(how.lr)),
        momentum(T(how.momentum)),
        keep(T(1 - how.dampening)),
        weight_decay(T(how.weight_decay)),
        nesterov(how.nesterov),
        first(how.first) {}

  template <unsigned StateMask>
  EBB_HD T update(T p, T g, T (&state)[kMostStates]) const {
    if (weight_decay != T(0)) g += weight_decay * p;
    if constexpr (StateMask == 0) {
      return p - lr * g;
    } else {
      T& velocity = state[0];
      velocity = first ? g : velocity * momentum + g * keep;
      return p - lr * (nesterov ? g + velocity * momentum : velocity);
    }
  }
};

template <class T>
struct Asgd;
/// State 0: the average of the parameter's values.
struct AsgdStep {
  template <class T>
  using Rule = Asgd<T>;
  double shrink, eta, mu, weight_decay;  // eta: the step size; mu: the parameter's weight in the average
};

template <class T>
struct Asgd {
  static constexpr unsigned kStateMasks[] = {0b1};
  T shrink, eta, mu, weight_decay;

  explicit Asgd(const AsgdStep& how)
      : shrink(T(how.shrink)), eta(T(how.eta)), mu(T(how.mu)), weight_decay(T(how.weight_decay)) {}

  template <unsigned StateMask>
  EBB_HD T update(T p, T g, T (&state)[kMostStates]) const {
    if (weight_decay != T(0)) g += weight_decay * p;
    p = p * shrink - eta * g;
    T& average = state[0];
    average = mu == T(1) ? p : average + (p - average) * mu;
    return p;
  }
};

template <class T>
struct Rprop;
/// State 0: the previous gradient. State 1: the step size.
struct RpropStep {
  template <class T>
  using Rule = Rprop<T>;
  double lr, shorter, longer, least, most;
  bool first;  // true in the first step, whose step size is lr
};

template <class T>
struct Rprop {
  static constexpr unsigned kStateMasks[] = {0b11};
  T lr, shorter, longer, least, most;
  bool first;

  explicit Rprop(const RpropStep& how)
      : lr(T(how.lr)),
        shorter(T(how.shorter)),
        longer(T(how.longer)),
        least(T(how.least)),
        most(T(how.most)),
        first(how.first) {}

  template <unsigned StateMask>
  EBB_HD T update(T p, T g, T (&state)[kMostStates]) const {
    T &before = state[0], &step = state[1];
    const T turn = g * before;
    step = (first ? lr : step) * (turn > T(0) ? longer : turn < T(0) ? shorter : T(1));
    step = step < least ? least : step > most ? most : step;
    if (turn < T(0)) g = T(0);  // the last step was too long, so this update makes no step
    before = g;
    return g > T(0) ? p - step : g < T(0) ? p + step : p;
  }
};

template <class T>
struct Lion;
/// State 0: the running average of the gradients.
struct LionStep {
  template <class T>
  using Rule = Lion<T>;
  double lr, beta1, beta2, shrink;
};

template <class T>
struct Lion {
  static constexpr unsigned kStateMasks[] = {0b1};
  T lr, beta1, rest1, beta2, rest2, shrink;

  explicit Lion(const LionStep& how)
      : lr(T(how.lr)),
        beta1(T(how.beta1)),
        rest1(T(1 - how.beta1)),
        beta2(T(how.beta2)),
        rest2(T(1 - how.beta2)),
        shrink(T(how.shrink)) {}

  template <unsigned StateMask>
  EBB_HD T update(T p, T g, T (&state)[kMostStates]) const {
    T& mean = state[0];
    const T way = mean * beta1 + g * rest1;
    mean = mean * beta2 + g * rest2;
    p *= shrink;
    return way > T(0) ? p - lr : way < T(0) ? p + lr : p;
  }
};

}  // namespace ebb::math
