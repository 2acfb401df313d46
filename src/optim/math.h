// Update rules: the numbers of a step, and what becomes of one element, in float or double. `state` is what
// is remembered of it, and `Kept` says which of the states are there; kKept lists the combinations that a
// rule knows.
#pragma once

#include <ebb/core/half.h>

#include <cmath>
#include <utility>
#include <variant>

namespace ebb::math {

constexpr int kMostStates = 3;

template <class T>
struct Sgd;
/// State 0, the velocity, is there with momentum.
struct SgdStep {
  template <class T>
  using Rule = Sgd<T>;
  double lr, momentum, dampening, weight_decay;
  bool nesterov;
  bool first;  // the velocity starts as the gradient
};

template <class T>
struct Sgd {
  static constexpr unsigned kKept[] = {0b0, 0b1};
  T lr, momentum, keep, weight_decay;  // keep is 1 - dampening
  bool nesterov, first;

  explicit Sgd(const SgdStep& how)
      : lr(T(how.lr)),
        momentum(T(how.momentum)),
        keep(T(1 - how.dampening)),
        weight_decay(T(how.weight_decay)),
        nesterov(how.nesterov),
        first(how.first) {}

  template <unsigned Kept>
  EBB_HD T update(T p, T g, T (&state)[kMostStates]) const {
    if (weight_decay != T(0)) g += weight_decay * p;
    if constexpr (Kept == 0) {
      return p - lr * g;
    } else {
      T& velocity = state[0];
      velocity = first ? g : velocity * momentum + g * keep;
      return p - lr * (nesterov ? g + velocity * momentum : velocity);
    }
  }
};

template <class T>
struct Adam;
/// States: the mean, the mean square, and with amsgrad the largest mean square so far.
struct AdamStep {
  template <class T>
  using Rule = Adam<T>;
  double beta1, beta2, eps;
  double weight_decay;  // added to the gradient
  double shrink;        // the parameter is multiplied by it first
  double step_size;     // lr / (1 - beta1^t)
  double root;          // sqrt(1 - beta2^t)
};

template <class T>
struct Adam {
  static constexpr unsigned kKept[] = {0b11, 0b111};
  static constexpr bool kMaster = true;
  T beta1, rest1, beta2, rest2, eps, weight_decay, shrink, step_size, root;

  explicit Adam(const AdamStep& how)
      : beta1(T(how.beta1)),
        rest1(T(1 - how.beta1)),
        beta2(T(how.beta2)),
        rest2(T(1 - how.beta2)),
        eps(T(how.eps)),
        weight_decay(T(how.weight_decay)),
        shrink(T(how.shrink)),
        step_size(T(how.step_size)),
        root(T(how.root)) {}

  template <unsigned Kept>
  EBB_HD T update(T p, T g, T (&state)[kMostStates]) const {
    T &mean = state[0], &square = state[1];
    p *= shrink;
    if (weight_decay != T(0)) g += weight_decay * p;
    mean = mean * beta1 + g * rest1;
    square = square * beta2 + g * g * rest2;
    T v = square;
    if constexpr ((Kept & 0b100u) != 0) {
      T& largest = state[2];
      largest = v > largest || v != v ? v : largest;
      v = largest;
    }
    return p - step_size * mean / (std::sqrt(v) / root + eps);
  }
};

template <class T>
struct Rmsprop;
/// States: the mean square; with momentum the velocity; if centered the mean.
struct RmspropStep {
  template <class T>
  using Rule = Rmsprop<T>;
  double lr, alpha, eps, weight_decay, momentum;
};

template <class T>
struct Rmsprop {
  static constexpr unsigned kKept[] = {0b1, 0b11, 0b101, 0b111};
  T lr, alpha, rest, eps, weight_decay, momentum;

  explicit Rmsprop(const RmspropStep& how)
      : lr(T(how.lr)),
        alpha(T(how.alpha)),
        rest(T(1 - how.alpha)),
        eps(T(how.eps)),
        weight_decay(T(how.weight_decay)),
        momentum(T(how.momentum)) {}

  template <unsigned Kept>
  EBB_HD T update(T p, T g, T (&state)[kMostStates]) const {
    T& square = state[0];
    if (weight_decay != T(0)) g += weight_decay * p;
    const T power = g * g * rest;
    square = square * alpha + power;
    T v = square;
    if constexpr ((Kept & 0b100u) != 0) {
      T& mean = state[2];
      mean = mean * alpha + g * rest;
      v -= mean * mean;
    }
    const T step = g / (std::sqrt(v) + eps);
    if constexpr ((Kept & 0b10u) == 0) {
      return p - lr * step;
    } else {
      T& velocity = state[1];
      velocity = velocity * momentum + step;
      return p - lr * velocity;
    }
  }
};

template <class T>
struct Adagrad;
/// State: the sum of squares.
struct AdagradStep {
  template <class T>
  using Rule = Adagrad<T>;
  double lr, eps, weight_decay;
};

template <class T>
struct Adagrad {
  static constexpr unsigned kKept[] = {0b1};
  T lr, eps, weight_decay;

  explicit Adagrad(const AdagradStep& how)
      : lr(T(how.lr)), eps(T(how.eps)), weight_decay(T(how.weight_decay)) {}

  template <unsigned Kept>
  EBB_HD T update(T p, T g, T (&state)[kMostStates]) const {
    T& sum = state[0];
    if (weight_decay != T(0)) g += weight_decay * p;
    sum += g * g;
    return p - lr * g / (std::sqrt(sum) + eps);
  }
};

/// What a rule starts from: the master copy, or the parameter where that is not the copy's rounded value.
template <class T>
EBB_HD float master_of(float master, T parameter) {
  const auto p = static_cast<float>(parameter);
  return static_cast<float>(static_cast<T>(master)) == p ? master : p;
}

/// Whether a rule works on master copies of 16-bit parameters: it then has a kMaster.
template <class Rule>
constexpr bool kHasMaster = requires {
  Rule::kMaster;
};

/// A step of any rule. A new rule is added here; its kernels follow.
using Step = std::variant<SgdStep, AdamStep, RmspropStep, AdagradStep>;

/// Calls f<Kept>() for the one of Rule's combinations that `kept` is.
template <class Rule, class F>
void with_kept(unsigned kept, const F& f) {
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    static_cast<void>(((kept == Rule::kKept[I] && (f.template operator()<Rule::kKept[I]>(), true)) || ...));
  }
  (std::make_index_sequence<std::size(Rule::kKept)>());
}

}  // namespace ebb::math
