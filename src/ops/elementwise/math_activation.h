// Formulas of the activations and of their derivatives, for host and device.
#pragma once

#include "ops/elementwise/math_binary.h"

namespace ebb::ops {

/// NaN passes through.
struct Relu {
  static constexpr char kName[] = "relu";
  static constexpr Types kTypes = Types::numeric;
  template <class T>
  EBB_HD T operator()(T x) const {
    return x < T(0) ? T(0) : x;
  }
};

struct Sigmoid {
  static constexpr char kName[] = "sigmoid";
  static constexpr Types kTypes = Types::floating;
  template <class T>
  EBB_HD T operator()(T x) const {
    return T(1) / (T(1) + std::exp(-x));
  }
};

}  // namespace ebb::ops
