// Formulas of the activations and of their slopes, for host and device. The gradient of an activation is
// Times<Slope>.
#pragma once

#include "ops/elementwise/math_binary.h"
#include "ops/elementwise/math_special.h"

#pragma GCC visibility push(default)
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

/// value where x <= threshold.
struct Threshold {
  static constexpr char kName[] = "threshold";
  static constexpr Types kTypes = Types::numeric;
  Number threshold, value;
  template <class T>
  EBB_HD T operator()(T x) const {
    return x <= threshold.as<T>() ? value.as<T>() : x;
  }
};

/// min(max(x, low), high), so that high wins where the bounds are exchanged; NaN stays.
struct Hardtanh {
  static constexpr char kName[] = "hardtanh";
  static constexpr Types kTypes = Types::numeric;
  Number low, high;
  template <class T>
  EBB_HD T operator()(T x) const {
    x = x < low.as<T>() ? low.as<T>() : x;
    return x > high.as<T>() ? high.as<T>() : x;
  }
};
/// Unlike clamp, hardtanh stops the gradient at its bounds.
struct HardtanhSlope {
  double low, high;
  template <class T>
  EBB_HD T operator()(T x) const {
    return x <= static_cast<T>(low) || x >= static_cast<T>(high) ? T(0) : T(1);
  }
};

struct LeakyRelu {
  static constexpr char kName[] = "leaky_relu";
  static constexpr Types kTypes = Types::strict_floating;
  double slope = 0.01;
  template <class T>
  EBB_HD T operator()(T x) const {
    return x > 0 ? x : x * static_cast<T>(slope);
  }
};
struct LeakyReluSlope {
  double slope = 0.01;
  template <class T>
  EBB_HD T operator()(T x) const {
    return x > 0 ? T(1) : static_cast<T>(slope);
  }
};

/// scale x above 0, scale alpha (e^(input_scale x) - 1) below: elu, selu and celu.
struct Elu {
  static constexpr char kName[] = "elu";
  static constexpr Types kTypes = Types::strict_floating;
  double alpha = 1, scale = 1, input_scale = 1;
  template <class T>
  EBB_HD T operator()(T x) const {
    return x <= 0 ? std::expm1(x * static_cast<T>(input_scale)) * static_cast<T>(alpha * scale)
                  : x * static_cast<T>(scale);
  }
};
struct EluSlope {
  double alpha = 1, scale = 1, input_scale = 1;
  template <class T>
  EBB_HD T operator()(T x) const {
    return x <= 0 ? std::exp(x * static_cast<T>(input_scale)) * static_cast<T>(alpha * scale * input_scale)
                  : static_cast<T>(scale);
  }
};

/// x Phi(x) with the normal distribution's Phi.
struct Gelu {
  static constexpr char kName[] = "gelu";
  static constexpr Types kTypes = Types::strict_floating;
  template <class T>
  EBB_HD T operator()(T x) const {
    return x * T(0.5) * (T(1) + std::erf(x * T(0.70710678118654752440)));
  }
};
struct GeluSlope {
  template <class T>
  EBB_HD T operator()(T x) const {
    const T phi = T(0.5) * (T(1) + std::erf(x * T(0.70710678118654752440)));
    return phi + x * std::exp(x * x * T(-0.5)) * T(0.39894228040143267794);
  }
};

/// The approximation of gelu by tanh.
struct GeluTanh {
  static constexpr char kName[] = "gelu";
  static constexpr Types kTypes = Types::strict_floating;
  template <class T>
  EBB_HD T operator()(T x) const {
    return T(0.5) * x * (T(1) + std::tanh(T(0.79788456080286535588) * (x + T(0.044715) * x * x * x)));
  }
};
struct GeluTanhSlope {
  template <class T>
  EBB_HD T operator()(T x) const {
    const T k = T(0.79788456080286535588), c = T(0.044715);
    const T t = std::tanh(k * (x + c * x * x * x));
    return T(0.5) * (T(1) + t) + T(0.5) * x * (T(1) - t * t) * k * (T(1) + T(3) * c * x * x);
  }
};

struct Silu {
  static constexpr char kName[] = "silu";
  static constexpr Types kTypes = Types::strict_floating;
  template <class T>
  EBB_HD T operator()(T x) const {
    return x / (T(1) + std::exp(-x));
  }
};
struct SiluSlope {
  template <class T>
  EBB_HD T operator()(T x) const {
    const T s = Sigmoid()(x);
    return s * (T(1) + x * (T(1) - s));
  }
};

struct Mish {
  static constexpr char kName[] = "mish";
  static constexpr Types kTypes = Types::strict_floating;
  template <class T>
  EBB_HD T operator()(T x) const {
    return x * std::tanh(std::log1p(std::exp(x)));
  }
};
struct MishSlope {
  template <class T>
  EBB_HD T operator()(T x) const {
    const T t = std::tanh(std::log1p(std::exp(x)));
    return t + x * Sigmoid()(x) * (T(1) - t * t);
  }
};

/// log(1 + e^(beta x)) / beta; x itself where beta x > threshold.
struct Softplus {
  static constexpr char kName[] = "softplus";
  static constexpr Types kTypes = Types::strict_floating;
  double beta = 1, threshold = 20;
  template <class T>
  EBB_HD T operator()(T x) const {
    const T scaled = x * static_cast<T>(beta);
    return scaled > static_cast<T>(threshold) ? x : std::log1p(std::exp(scaled)) / static_cast<T>(beta);
  }
};
struct SoftplusSlope {
  double beta = 1, threshold = 20;
  template <class T>
  EBB_HD T operator()(T x) const {
    const T scaled = x * static_cast<T>(beta);
    return scaled > static_cast<T>(threshold) ? T(1) : Sigmoid()(scaled);
  }
};

/// log(1 / (1 + e^-x)), without overflow on either side.
struct LogSigmoid {
  static constexpr char kName[] = "log_sigmoid";
  static constexpr Types kTypes = Types::strict_floating;
  template <class T>
  EBB_HD T operator()(T x) const {
    return (x < 0 ? x : x == x ? T(0) : x) - std::log1p(std::exp(-std::fabs(x)));
  }
};
struct LogSigmoidSlope {
  template <class T>
  EBB_HD T operator()(T x) const {
    return Sigmoid()(-x);
  }
};

struct Hardsigmoid {
  static constexpr char kName[] = "hardsigmoid";
  static constexpr Types kTypes = Types::strict_floating;
  template <class T>
  EBB_HD T operator()(T x) const {
    const T y = x + T(3);
    return (y < 0 ? T(0) : y > T(6) ? T(6) : y) / T(6);
  }
};
struct HardsigmoidSlope {
  template <class T>
  EBB_HD T operator()(T x) const {
    return x > T(-3) && x < T(3) ? T(1) / T(6) : T(0);
  }
};

struct Hardswish {
  static constexpr char kName[] = "hardswish";
  static constexpr Types kTypes = Types::strict_floating;
  template <class T>
  EBB_HD T operator()(T x) const {
    const T y = x + T(3);
    return x * (y < 0 ? T(0) : y > T(6) ? T(6) : y) / T(6);
  }
};
struct HardswishSlope {
  template <class T>
  EBB_HD T operator()(T x) const {
    return x < T(-3) ? T(0) : x < T(3) ? x / T(3) + T(0.5) : T(1);
  }
};

struct Hardshrink {
  static constexpr char kName[] = "hardshrink";
  static constexpr Types kTypes = Types::strict_floating;
  double lambda = 0.5;
  template <class T>
  EBB_HD T operator()(T x) const {
    return x >= static_cast<T>(-lambda) && x <= static_cast<T>(lambda) ? T(0) : x;
  }
};
/// Of hardshrink and of softshrink.
struct ShrinkSlope {
  double lambda = 0.5;
  template <class T>
  EBB_HD T operator()(T x) const {
    return x >= static_cast<T>(-lambda) && x <= static_cast<T>(lambda) ? T(0) : T(1);
  }
};
struct Softshrink {
  static constexpr char kName[] = "softshrink";
  static constexpr Types kTypes = Types::strict_floating;
  double lambda = 0.5;
  template <class T>
  EBB_HD T operator()(T x) const {
    const T l = static_cast<T>(lambda);
    return x > l ? x - l : x < -l ? x + l : T(0);  // NaN too, as in libtorch
  }
};

}  // namespace ebb::ops
#pragma GCC visibility pop
