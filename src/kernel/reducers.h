// The functors of reductions for both devices: load an element, merge two partial results, finish.
#pragma once

#include <ebb/core/half.h>

#include "kernel/arithmetic.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace ebb::reducers {

template <class T>
EBB_HD inline bool is_nan(T x) {
  if constexpr (std::is_integral_v<T>)
    return false;
  else
    return x != x;
}

/// The accumulator type of sums of T: float for 16-bit types, 64 bits for integers and bool.
template <class T>
using Accumulator = std::conditional_t<std::is_same_v<T, double>, double,
                                       std::conditional_t<std::is_integral_v<T>, std::int64_t, float>>;

/// The type in which elements are loaded. The CPU first converts halves to float in bulk.
template <class T>
using Loaded = std::conditional_t<std::is_same_v<T, Half>, float, T>;

template <class T>
using SumResult = std::conditional_t<std::is_integral_v<T>, std::int64_t, T>;

/// The sum divided by `divisor`. The result is the mean if `divisor` is the number of elements.
template <class T>
struct Sum {
  using In = T;
  using Acc = Accumulator<T>;
  using Out = SumResult<T>;
  static constexpr bool kPerOutput = false;
  double divisor = 1;

  EBB_HD Acc identity() const { return Acc(0); }
  EBB_HD Acc load(Loaded<T> x, std::int64_t) const { return static_cast<Acc>(x); }
  EBB_HD Acc merge(Acc a, Acc b) const { return wrapping_add(a, b); }
  EBB_HD Out finish(Acc a) const {
    if constexpr (std::is_integral_v<T>)
      return a;
    else
      return static_cast<Out>(a / static_cast<Acc>(divisor));
  }
};

/// A sum in which NaN counts as 0.
template <class T>
struct NanSum : Sum<T> {
  using typename Sum<T>::Acc;
  EBB_HD Acc load(Loaded<T> x, std::int64_t) const {
    const Acc value = static_cast<Acc>(x);
    return is_nan(value) ? Acc(0) : value;
  }
};

template <class T>
struct Prod : Sum<T> {
  using typename Sum<T>::Acc;
  using typename Sum<T>::Out;
  EBB_HD Acc identity() const { return Acc(1); }
  EBB_HD Acc merge(Acc a, Acc b) const { return wrapping_multiply(a, b); }
  EBB_HD Out finish(Acc a) const { return static_cast<Out>(a); }
};

/// Adds elements of type T in double and divides the sum by `divisor`. The result is not rounded to T, and
/// the array needs no converted copy.
template <class T>
struct WideMean {
  using In = T;
  using Acc = double;
  using Out = double;
  static constexpr bool kPerOutput = false;
  double divisor = 1;

  EBB_HD Acc identity() const { return 0; }
  EBB_HD Acc load(Loaded<T> x, std::int64_t) const { return static_cast<Acc>(x); }
  EBB_HD Acc merge(Acc a, Acc b) const { return a + b; }
  EBB_HD Out finish(Acc a) const { return a / divisor; }
};

template <class T>
struct WideNanSum : WideMean<T> {
  EBB_HD double load(Loaded<T> x, std::int64_t) const {
    const double value = static_cast<double>(x);
    return is_nan(value) ? 0 : value;
  }
};
template <class T>
struct WideProd : WideMean<T> {
  using typename WideMean<T>::Acc;
  EBB_HD Acc identity() const { return 1; }
  EBB_HD Acc merge(Acc a, Acc b) const { return a * b; }
  EBB_HD double finish(Acc a) const { return a; }
};

/// The sum of (x - mean)^2 divided by `divisor`. The squares and their sum are computed in double, because
/// squares in float would be rounded.
template <class T>
struct SquaredDeviation : WideMean<T> {
  using typename WideMean<T>::Acc;
  using Out = T;
  static constexpr bool kPerOutput = true;
  const Acc* mean = nullptr;  // one per output
  bool root = false;
  EBB_HD Acc load(Loaded<T> x, std::int64_t output) const {
    const Acc d = static_cast<Acc>(x) - mean[output];
    return d * d;
  }
  EBB_HD Out finish(Acc a) const {
    const Acc variance = a / this->divisor;
    return static_cast<Out>(root ? std::sqrt(variance) : variance);
  }
};

/// The count, the mean and the sum of squared deviations of some elements, computed in one pass. Elements are
/// taken relative to `shift`, which is one of them, so that the sums of large values do not lose digits by
/// cancellation. After a merge, `rest` is mean - shift, and `squares` is relative to the mean, so that the
/// next merge needs only one division.
template <class A>
struct Moments {
  std::int64_t count;
  A shift;
  A rest;     // the sum of x - shift; after a merge: mean - shift
  A squares;  // the sum of (x - shift)^2; after a merge: of (x - mean)^2
  bool merged;

  EBB_HD static Moments none() { return {0, A(0), A(0), A(0), false}; }
  EBB_HD void take(A x) {
    if (count == 0 && x - x == 0) shift = x;  // the shift must be finite
    const A d = x - shift;
    ++count;
    rest += d;
    squares += d * d;
  }
  EBB_HD A mean() const { return shift + offset(); }
  EBB_HD A deviations() const {
    const A d = merged ? squares : squares - rest * offset();
    return d < A(0) ? A(0) : d;  // removes rounding errors; NaN remains
  }
  /// Merges two results as in Chan, Golub and LeVeque, Updating formulae and a pairwise algorithm for
  /// computing sample variances, 1979.
  EBB_HD static Moments merge(const Moments& a, const Moments& b) {
    if (a.count == 0) return b;
    if (b.count == 0) return a;
    const std::int64_t count = a.count + b.count;
    const A from = a.offset(), to = b.shift - a.shift + b.offset(), gap = to - from;
    // If the counts are equal, as for most threads, no division is needed.
    const A share = a.count == b.count ? A(0.5) : static_cast<A>(b.count) / static_cast<A>(count);
    // Computes a weighted mean, so that an infinity remains infinite.
    return {count, a.shift, from * (A(1) - share) + to * share,
            a.deviations() + b.deviations() + gap * gap * share * static_cast<A>(a.count), true};
  }

 private:
  EBB_HD A offset() const { return merged ? rest : rest / static_cast<A>(count); }
};

/// The largest (kLargest) or smallest element. The result is NaN if any element is NaN.
template <class T, bool kLargest>
struct Extreme {
  using In = T;
  using Acc = std::conditional_t<std::is_arithmetic_v<T>, T, float>;
  using Out = T;
  static constexpr bool kPerOutput = false;

  EBB_HD Acc identity() const {
    if constexpr (std::is_integral_v<Acc>)
      return kLargest ? std::numeric_limits<Acc>::min() : std::numeric_limits<Acc>::max();
    else
      return kLargest ? -std::numeric_limits<Acc>::infinity() : std::numeric_limits<Acc>::infinity();
  }
  EBB_HD Acc load(Loaded<T> x, std::int64_t) const { return static_cast<Acc>(x); }
  EBB_HD Acc merge(Acc a, Acc b) const {
    const Acc extreme = (kLargest ? a > b : a < b) ? a : b;
    return a != a ? a : extreme;  // one condition for each choice, because GCC then vectorises loops
  }
  EBB_HD Out finish(Acc a) const { return static_cast<Out>(a); }
};

/// Counts the nonzero elements (including NaN), or for a 1-byte result tests whether any or all are nonzero.
template <class T, class O>
struct CountNonzero {
  using In = T;
  using Acc = std::int64_t;
  using Out = O;
  static constexpr bool kPerOutput = false;
  std::int64_t at_least = 0;  // a 1-byte result is true if the count is at least this

  EBB_HD Acc identity() const { return 0; }
  EBB_HD Acc load(T x, std::int64_t) const {
    // A 16-bit float is zero if all its bits except the sign are 0.
    if constexpr (std::is_arithmetic_v<T>)
      return x != T(0);
    else
      return (x.bits & 0x7fff) != 0;
  }
  EBB_HD Acc merge(Acc a, Acc b) const { return a + b; }
  EBB_HD Out finish(Acc a) const {
    if constexpr (sizeof(Out) == 1)
      return a >= at_least;
    else
      return a;
  }
};

/// The exclusive or of the bits of the elements, each converted to Double or Long.
template <class T>
struct XorBits {
  using In = T;
  using Acc = std::int64_t;
  using Out = std::int64_t;
  static constexpr bool kPerOutput = false;

  EBB_HD Acc identity() const { return 0; }
  EBB_HD Acc load(T x, std::int64_t) const {
    if constexpr (std::is_integral_v<T>)
      return static_cast<std::int64_t>(x);
    else
      return __builtin_bit_cast(std::int64_t, static_cast<double>(static_cast<Accumulator<T>>(x)));
  }
  EBB_HD Acc merge(Acc a, Acc b) const { return a ^ b; }
  EBB_HD Out finish(Acc a) const { return a; }
};

enum class NormKind { zero, one, two, max, min, general };

/// The p-norm of the reduced elements. For p = 0 it is the number of nonzero elements, for p = inf the
/// largest magnitude, and for p = -inf the smallest magnitude.
template <class T, NormKind kKind>
struct Norm {
  using In = T;
  // Powers of floats are summed in double, because float powers would be rounded.
  static constexpr bool kPowers = kKind == NormKind::two || kKind == NormKind::general;
  using Acc = std::conditional_t<kPowers, double, Accumulator<T>>;
  using Out = Accumulator<T>;
  static constexpr bool kPerOutput = false;
  static constexpr bool kExtreme = kKind == NormKind::max || kKind == NormKind::min;
  static constexpr bool kMultiplies = true;
  double p = 0;

  EBB_HD Acc identity() const {
    return kKind == NormKind::min ? std::numeric_limits<Acc>::infinity() : Acc(0);
  }
  EBB_HD Acc load(Loaded<T> x, std::int64_t) const {
    const Acc a = static_cast<Acc>(x);
    if constexpr (kKind == NormKind::zero)
      return a != 0 ? Acc(1) : Acc(0);
    else if constexpr (kKind == NormKind::two)
      return a * a;
    else if constexpr (kKind == NormKind::general)
      return std::pow(std::abs(a), static_cast<Acc>(p));
    else
      return std::abs(a);
  }
  EBB_HD Acc merge(Acc a, Acc b) const {
    if constexpr (kExtreme)
      return Extreme<Acc, kKind == NormKind::max>().merge(a, b);
    else
      return a + b;
  }
  EBB_HD Out finish(Acc a) const {
    if constexpr (kKind == NormKind::two)
      return static_cast<Out>(std::sqrt(a));
    else if constexpr (kKind == NormKind::general)
      return static_cast<Out>(std::pow(a, Acc(1) / static_cast<Acc>(p)));
    else
      return static_cast<Out>(a);
  }
};

}  // namespace ebb::reducers
