// The p-norms of cdist, for host and device: what a difference adds (kAdds: to a sum), how that becomes a
// distance, the slope of the distance.
#pragma once

#include <ebb/core/half.h>

#include <cmath>

namespace ebb::distance {

template <class T>
EBB_HD T sign(T x) {
  return static_cast<T>((x > T(0)) - (x < T(0)));
}

template <class T>
struct Zero {
  static constexpr bool kAdds = true;
  EBB_HD T add(T sum, T d) const { return sum + (d != T(0) ? T(1) : T(0)); }
  EBB_HD T finish(T sum) const { return sum; }
  EBB_HD T slope(T, T) const { return T(0); }
};
template <class T>
struct One {
  static constexpr bool kAdds = true;
  EBB_HD T add(T sum, T d) const { return sum + std::abs(d); }
  EBB_HD T finish(T sum) const { return sum; }
  EBB_HD T slope(T d, T) const { return sign(d); }
};
template <class T>
struct Two {
  static constexpr bool kAdds = true;
  EBB_HD T add(T sum, T d) const { return sum + d * d; }
  EBB_HD T finish(T sum) const { return std::sqrt(sum); }
  EBB_HD T slope(T d, T distance) const { return distance == T(0) ? T(0) : d / distance; }
};
template <class T>
struct Greatest {
  static constexpr bool kAdds = false;
  EBB_HD T add(T sum, T d) const { return std::abs(d) > sum || d != d ? std::abs(d) : sum; }
  EBB_HD T finish(T sum) const { return sum; }
  EBB_HD T slope(T d, T distance) const { return std::abs(d) == distance ? sign(d) : T(0); }
};
template <class T>
struct Power {
  static constexpr bool kAdds = true;
  T p;
  EBB_HD T add(T sum, T d) const { return sum + std::pow(std::abs(d), p); }
  EBB_HD T finish(T sum) const { return std::pow(sum, T(1) / p); }
  EBB_HD T slope(T d, T distance) const {
    return distance == T(0) || d == T(0) ? T(0) : sign(d) * std::pow(std::abs(d) / distance, p - T(1));
  }
};

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
