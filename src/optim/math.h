// Update rules for one element, in float or double; the references are what is remembered.
#pragma once

#include <ebb/core/half.h>

#include <cmath>

namespace ebb::math {

template <class T>
struct Sgd {
  T lr, momentum, keep, weight_decay;  // keep is 1 - dampening
  bool nesterov, first;
  EBB_HD T plain(T p, T g) const {
    if (weight_decay != T(0)) g += weight_decay * p;
    return p - lr * g;
  }
  EBB_HD T operator()(T p, T g, T& velocity) const {
    if (weight_decay != T(0)) g += weight_decay * p;
    velocity = first ? g : velocity * momentum + g * keep;
    return p - lr * (nesterov ? g + velocity * momentum : velocity);
  }
};

template <class T>
struct Adam {
  T beta1, rest1, beta2, rest2, eps, weight_decay, shrink, step_size, root;
  EBB_HD T moments(T& p, T g, T& mean, T& square) const {
    p *= shrink;
    if (weight_decay != T(0)) g += weight_decay * p;
    mean = mean * beta1 + g * rest1;
    square = square * beta2 + g * g * rest2;
    return square;
  }
  EBB_HD T operator()(T p, T g, T& mean, T& square) const {
    const T v = moments(p, g, mean, square);
    return p - step_size * mean / (std::sqrt(v) / root + eps);
  }
  EBB_HD T operator()(T p, T g, T& mean, T& square, T& largest) const {
    const T v = moments(p, g, mean, square);
    largest = v > largest || v != v ? v : largest;
    return p - step_size * mean / (std::sqrt(largest) / root + eps);
  }
};

template <class T>
struct Rmsprop {
  T lr, alpha, rest, eps, weight_decay, momentum;
  EBB_HD T operator()(T p, T g, T& square, T* velocity, T* mean) const {
    if (weight_decay != T(0)) g += weight_decay * p;
    square = square * alpha + g * g * rest;
    T v = square;
    if (mean) {
      *mean = *mean * alpha + g * rest;
      v -= *mean * *mean;
    }
    const T step = g / (std::sqrt(v) + eps);
    if (!velocity) return p - lr * step;
    *velocity = *velocity * momentum + step;
    return p - lr * *velocity;
  }
};

template <class T>
struct Adagrad {
  T lr, eps, weight_decay;
  EBB_HD T operator()(T p, T g, T& sum) const {
    if (weight_decay != T(0)) g += weight_decay * p;
    sum += g * g;
    return p - lr * g / (std::sqrt(sum) + eps);
  }
};

}  // namespace ebb::math
