// Update rules of Adagrad, RMSprop and Adadelta, which divide by an accumulated gradient magnitude.
#pragma once

#include "optim/rules/rule.h"

#include <cmath>

namespace ebb::math {

template <class T>
struct Adagrad;
/// State 0: the sum of squared gradients.
struct AdagradStep {
  template <class T>
  using Rule = Adagrad<T>;
  double lr, eps, weight_decay;
};

template <class T>
struct Adagrad {
  static constexpr unsigned kStateMasks[] = {0b1};
  T lr, eps, weight_decay;

  explicit Adagrad(const AdagradStep& how)
      : lr(T(how.lr)), eps(T(how.eps)), weight_decay(T(how.weight_decay)) {}

  template <unsigned StateMask>
  EBB_HD T update(T p, T g, T (&state)[kMostStates]) const {
    T& sum = state[0];
    if (weight_decay != T(0)) g += weight_decay * p;
    sum += g * g;
    return p - lr * g / (std::sqrt(sum) + eps);
  }
};

template <class T>
struct Rmsprop;
/// State 0: the mean square. State 1 (with momentum): the velocity. State 2 (if centered): the mean.
struct RmspropStep {
  template <class T>
  using Rule = Rmsprop<T>;
  double lr, alpha, eps, weight_decay, momentum;
};

template <class T>
struct Rmsprop {
  static constexpr unsigned kStateMasks[] = {0b1, 0b11, 0b101, 0b111};
  T lr, alpha, rest, eps, weight_decay, momentum;

  explicit Rmsprop(const RmspropStep& how)
      : lr(T(how.lr)),
        alpha(T(how.alpha)),
        rest(T(1 - how.alpha)),
        eps(T(how.eps)),
        weight_decay(T(how.weight_decay)),
        momentum(T(how.momentum)) {}

  template <unsigned StateMask>
  EBB_HD T update(T p, T g, T (&state)[kMostStates]) const {
    T& square = state[0];
    if (weight_decay != T(0)) g += weight_decay * p;
    const T power = g * g * rest;
    square = square * alpha + power;
    T v = square;
    if constexpr ((StateMask & 0b100u) != 0) {
      T& mean = state[2];
      mean = mean * alpha + g * rest;
      v -= mean * mean;
    }
    const T step = g / (std::sqrt(v) + eps);
    if constexpr ((StateMask & 0b10u) == 0) {
      return p - lr * step;
    } else {
      T& velocity = state[1];
      velocity = velocity * momentum + step;
      return p - lr * velocity;
    }
  }
};

template <class T>
struct Adadelta;
/// State 0: the mean squared gradient. State 1: the mean squared step.
struct AdadeltaStep {
  template <class T>
  using Rule = Adadelta<T>;
  double lr, rho, eps, weight_decay;
};

template <class T>
struct Adadelta {
  static constexpr unsigned kStateMasks[] = {0b11};
  T lr, rho, rest, eps, weight_decay;

  explicit Adadelta(const AdadeltaStep& how)
      : lr(T(how.lr)),
        rho(T(how.rho)),
        rest(T(1 - how.rho)),
        eps(T(how.eps)),
        weight_decay(T(how.weight_decay)) {}

  template <unsigned StateMask>
  EBB_HD T update(T p, T g, T (&state)[kMostStates]) const {
    T &square = state[0], &steps = state[1];
    if (weight_decay != T(0)) g += weight_decay * p;
    square = square * rho + g * g * rest;
    const T step = std::sqrt(steps + eps) / std::sqrt(square + eps) * g;
    steps = steps * rho + step * step * rest;
    return p - lr * step;
  }
};

}  // namespace ebb::math
