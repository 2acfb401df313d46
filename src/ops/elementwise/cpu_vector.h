// Rows of functors whose formula runs in lanes, and how dear an element is.
#pragma once

#include <type_traits>

#include "ops/elementwise/cpu_lanes.h"
#include "ops/elementwise/lists.h"

namespace ebb::cpu {

template <class Op, class Ops>
constexpr bool is_in = false;
template <class Op, class... Ops>
constexpr bool is_in<Op, ops::List<Ops...>> = (std::is_same_v<Op, Ops> || ...);

/// Functors of one operand that are a function of libmvec, or a few of them and some arithmetic.
using LaneOps =
    ops::List<ops::Exp, ops::Exp2, ops::Expm1, ops::Log, ops::Log2, ops::Log10, ops::Log1p, ops::Sigmoid,
              ops::Sin, ops::Cos, ops::Tan, ops::Asin, ops::Acos, ops::Atan, ops::Sinh, ops::Cosh, ops::Tanh,
              ops::Asinh, ops::Acosh, ops::Atanh, ops::Erf, ops::Erfc, ops::Silu, ops::SiluSlope, ops::Gelu,
              ops::GeluSlope, ops::GeluTanh, ops::GeluTanhSlope, ops::Softplus, ops::SoftplusSlope,
              ops::LogSigmoid, ops::LogSigmoidSlope, ops::Mish, ops::MishSlope, ops::Elu, ops::EluSlope>;

template <class Op>
constexpr bool runs_in_lanes = EBB_LIBMVEC&& is_in<Op, LaneOps>;
template <class F>
constexpr bool runs_in_lanes<ops::Times<F>> = runs_in_lanes<F>;

/// Elements that pay for waking a thread: fewer where each costs a function call.
template <class Op>
constexpr std::int64_t grain_of =
    runs_in_lanes<Op> || is_in<Op, ops::Join<LaneOps, ops::SpecialOps, ops::BinaryMathOps>> ? 4096 : 32768;

#if EBB_LIBMVEC

namespace lanes {

/// op(x) lane by lane: the formulas of math_*.h again, in vectors.
template <class Op, class V>
V formula(const Op& op, V x) {
  using T = std::remove_cvref_t<decltype(x[0])>;
  [[maybe_unused]] const V zero = {};
  [[maybe_unused]] const auto magnitude = [](V v) { return v < V{} ? -v : v; };
  [[maybe_unused]] const auto logistic = [](V v) { return T(1) / (T(1) + exp(-v)); };
  if constexpr (std::is_same_v<Op, ops::Exp>)
    return exp(x);
  else if constexpr (std::is_same_v<Op, ops::Exp2>)
    return exp2(x);
  else if constexpr (std::is_same_v<Op, ops::Expm1>)
    return expm1(x);
  else if constexpr (std::is_same_v<Op, ops::Log>)
    return log(x);
  else if constexpr (std::is_same_v<Op, ops::Log2>)
    return log2(x);
  else if constexpr (std::is_same_v<Op, ops::Log10>)
    return log10(x);
  else if constexpr (std::is_same_v<Op, ops::Log1p>)
    return log1p(x);
  else if constexpr (std::is_same_v<Op, ops::Sin>)
    return sin(x);
  else if constexpr (std::is_same_v<Op, ops::Cos>)
    return cos(x);
  else if constexpr (std::is_same_v<Op, ops::Tan>)
    return tan(x);
  else if constexpr (std::is_same_v<Op, ops::Asin>)
    return asin(x);
  else if constexpr (std::is_same_v<Op, ops::Acos>)
    return acos(x);
  else if constexpr (std::is_same_v<Op, ops::Atan>)
    return atan(x);
  else if constexpr (std::is_same_v<Op, ops::Sinh>)
    return sinh(x);
  else if constexpr (std::is_same_v<Op, ops::Cosh>)
    return cosh(x);
  else if constexpr (std::is_same_v<Op, ops::Tanh>)
    return tanh(x);
  else if constexpr (std::is_same_v<Op, ops::Asinh>)
    return asinh(x);
  else if constexpr (std::is_same_v<Op, ops::Acosh>)
    return acosh(x);
  else if constexpr (std::is_same_v<Op, ops::Atanh>)
    return atanh(x);
  else if constexpr (std::is_same_v<Op, ops::Erf>)
    return erf(x);
  else if constexpr (std::is_same_v<Op, ops::Erfc>)
    return erfc(x);
  else if constexpr (std::is_same_v<Op, ops::Sigmoid>)
    return logistic(x);
  else if constexpr (std::is_same_v<Op, ops::Silu>)
    return x / (T(1) + exp(-x));
  else if constexpr (std::is_same_v<Op, ops::SiluSlope>) {
    const V s = logistic(x);
    return s * (T(1) + x * (T(1) - s));
  } else if constexpr (std::is_same_v<Op, ops::Gelu>) {
    return x * T(0.5) * (T(1) + erf(x * T(0.70710678118654752440)));
  } else if constexpr (std::is_same_v<Op, ops::GeluSlope>) {
    const V phi = T(0.5) * (T(1) + erf(x * T(0.70710678118654752440)));
    return phi + x * exp(x * x * T(-0.5)) * T(0.39894228040143267794);
  } else if constexpr (std::is_same_v<Op, ops::GeluTanh>) {
    return T(0.5) * x * (T(1) + tanh(T(0.79788456080286535588) * (x + T(0.044715) * x * x * x)));
  } else if constexpr (std::is_same_v<Op, ops::GeluTanhSlope>) {
    const T k = T(0.79788456080286535588), c = T(0.044715);
    const V t = tanh(k * (x + c * x * x * x));
    return T(0.5) * (T(1) + t) + T(0.5) * x * (T(1) - t * t) * k * (T(1) + T(3) * c * x * x);
  } else if constexpr (std::is_same_v<Op, ops::Softplus>) {
    const V scaled = x * static_cast<T>(op.beta);
    return scaled > static_cast<T>(op.threshold) ? x : log1p(exp(scaled)) / static_cast<T>(op.beta);
  } else if constexpr (std::is_same_v<Op, ops::SoftplusSlope>) {
    const V scaled = x * static_cast<T>(op.beta);
    return scaled > static_cast<T>(op.threshold) ? zero + T(1) : logistic(scaled);
  } else if constexpr (std::is_same_v<Op, ops::LogSigmoid>) {
    return (x > zero ? zero : x) - log1p(exp(-magnitude(x)));
  } else if constexpr (std::is_same_v<Op, ops::LogSigmoidSlope>) {
    return logistic(-x);
  } else if constexpr (std::is_same_v<Op, ops::Mish>) {
    return x * tanh(log1p(exp(x)));
  } else if constexpr (std::is_same_v<Op, ops::MishSlope>) {
    const V t = tanh(log1p(exp(x)));
    return t + x * logistic(x) * (T(1) - t * t);
  } else if constexpr (std::is_same_v<Op, ops::Elu>) {
    const V below = expm1(x * static_cast<T>(op.input_scale)) * static_cast<T>(op.alpha * op.scale);
    return x <= zero ? below : x * static_cast<T>(op.scale);
  } else if constexpr (std::is_same_v<Op, ops::EluSlope>) {
    const V below =
        exp(x * static_cast<T>(op.input_scale)) * static_cast<T>(op.alpha * op.scale * op.input_scale);
    return x <= zero ? below : zero + static_cast<T>(op.scale);
  }
}

template <class T>
using Of = std::conditional_t<std::is_same_v<T, double>, Doubles, Floats>;
template <class T>
constexpr int kCount = std::is_same_v<T, double> ? 4 : 8;

/// n of the lanes from memory (16-bit types converted); the others repeat the first, so that they cost
/// nothing special.
template <class T>
Of<T> load(const T* x, std::int64_t n) {
  Of<T> v;
  if constexpr (sizeof(v[0]) == sizeof(T)) {
    if (n >= kCount<T>) {
      std::memcpy(&v, x, sizeof(v));
      return v;
    }
  }
  for (int i = 0; i < kCount<T>; ++i)
    v[i] = static_cast<std::remove_cvref_t<decltype(v[0])>>(x[i < n ? i : 0]);
  return v;
}

template <class T>
void store(T* out, Of<T> v, std::int64_t n) {
  if constexpr (sizeof(v[0]) == sizeof(T)) {
    if (n >= kCount<T>) {
      std::memcpy(out, &v, sizeof(v));
      return;
    }
  }
  for (int i = 0; i < kCount<T> && i < n; ++i) out[i] = static_cast<T>(v[i]);
}

template <class Op, class T>
void row(const Op& op, T* out, const T* x, std::int64_t n) {
  for (std::int64_t i = 0; i < n; i += kCount<T>) store(out + i, formula(op, load(x + i, n - i)), n - i);
}

/// out = g F(x); either may be constant over the row.
template <class F, class T>
void row(const ops::Times<F>& op, T* out, const T* g, bool g_constant, const T* x, bool x_constant,
         std::int64_t n) {
  // A row may be empty: then only a constant is there to be read.
  const Of<T> g0 = g_constant ? load(g, 1) : Of<T>{}, f0 = x_constant ? formula(op.f, load(x, 1)) : Of<T>{};
  for (std::int64_t i = 0; i < n; i += kCount<T>) {
    const Of<T> factor = g_constant ? g0 : load(g + i, n - i);
    store(out + i, factor * (x_constant ? f0 : formula(op.f, load(x + i, n - i))), n - i);
  }
}

}  // namespace lanes

#endif

}  // namespace ebb::cpu
