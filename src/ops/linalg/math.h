// The p-norms of cdist, for host and device. A norm has three functions: add() accumulates a difference,
// finish() computes the distance from the accumulator, and derivative() returns the derivative of the
// distance with respect to a difference. kAdds is true if the accumulator is a sum. kScales is true for sums
// of powers, which may leave the range of T.
#pragma once

#include <ebb/core/half.h>

#include <cmath>
#include <cstdint>

namespace ebb::distance {

template <class T>
EBB_HD T sign(T x) {
  return static_cast<T>((x > T(0)) - (x < T(0)));
}

template <class T>
struct Zero {
  static constexpr bool kAdds = true, kScales = false;
  EBB_HD T add(T sum, T d) const { return sum + (d != T(0) ? T(1) : T(0)); }
  EBB_HD T finish(T sum) const { return sum; }
  EBB_HD T derivative(T, T) const { return T(0); }
};
template <class T>
struct One {
  static constexpr bool kAdds = true, kScales = false;
  EBB_HD T add(T sum, T d) const { return sum + std::abs(d); }
  EBB_HD T finish(T sum) const { return sum; }
  EBB_HD T derivative(T d, T) const { return sign(d); }
};
template <class T>
struct Two {
  static constexpr bool kAdds = true, kScales = true;
  EBB_HD T add(T sum, T d) const { return sum + d * d; }
  EBB_HD T finish(T sum) const { return std::sqrt(sum); }
  EBB_HD T derivative(T d, T distance) const { return distance == T(0) ? T(0) : d / distance; }
};
template <class T>
struct Greatest {
  static constexpr bool kAdds = false, kScales = false;
  EBB_HD T add(T sum, T d) const { return std::abs(d) > sum || d != d ? std::abs(d) : sum; }
  EBB_HD T finish(T sum) const { return sum; }
  EBB_HD T derivative(T d, T distance) const { return std::abs(d) == distance ? sign(d) : T(0); }
};
template <class T>
struct Power {
  static constexpr bool kAdds = true, kScales = true;
  T p;
  EBB_HD T add(T sum, T d) const { return sum + std::pow(std::abs(d), p); }
  EBB_HD T finish(T sum) const { return std::pow(sum, T(1) / p); }
  EBB_HD T derivative(T d, T distance) const {
    return distance == T(0) || d == T(0) ? T(0) : sign(d) * std::pow(std::abs(d) / distance, p - T(1));
  }
};

/// Returns whether the powers that were added to `sum` may have overflowed or lost digits.
template <class T>
EBB_HD bool is_extreme(T sum) {
  return !(sum > T(0x1p-80) && sum < T(0x1p120));
}

/// Returns the distance for n differences. The differences are first divided by the largest one, so that
/// their powers cannot overflow.
template <class T, class Norm, class Difference>
EBB_HD T scaled_distance(const Norm& norm, std::int64_t n, const Difference& difference) {
  T top = 0, sum = 0;
  const Greatest<T> greatest;
  for (std::int64_t k = 0; k < n; ++k) top = greatest.add(top, difference(k));
  if (!(top > T(0)) || std::isinf(top)) return top;
  for (std::int64_t k = 0; k < n; ++k) sum = norm.add(sum, difference(k) / top);
  return top * norm.finish(sum);
}

template <class T, class Body>
void with_norm(double p, Body&& body) {
  if (p == 0)
    body(Zero<T>{});
  else if (p == 1)
    body(One<T>{});
  else if (p == 2)
    body(Two<T>{});
  else if (std::isinf(p))
    body(Greatest<T>{});
  else
    body(Power<T>{static_cast<T>(p)});
}

}  // namespace ebb::distance
