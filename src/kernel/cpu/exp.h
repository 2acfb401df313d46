// e^x of Eigen arrays, with Eigen's packets.
#pragma once

// GCC wrongly reports uninitialised lanes in its own intrinsics (bug 105593).
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#include <Eigen/Core>
#pragma GCC diagnostic pop

#include <cmath>
#include <cstdint>
#include <type_traits>

namespace ebb::cpu {

/// Returns exp(x); in packets, returns 0 for x <= kLeast. For such x, even for -inf, Eigen's pexp would
/// return a positive constant: 5.6e-309 for double, 2.9e-39 for float.
template <class T>
struct Exp {
  static constexpr T kLeast = std::is_same_v<T, float> ? T(-88.723) : T(-709.784);

  T operator()(T x) const { return std::exp(x); }
  template <class Packet>
  Packet packetOp(const Packet& x) const {
    using namespace Eigen::internal;
    return pandnot(pexp(x), pcmp_le(x, pset1<Packet>(kLeast)));
  }
};

template <class Array>
auto exp_of(const Array& x) {
  return x.unaryExpr(Exp<typename Array::Scalar>());
}

/// Sets the exponentials that equal 1 to zero, and returns their number. The logarithm of a sum near 1 can
/// then be computed from the sum of the other exponentials, without cancellation.
template <class T>
std::int32_t take_ones(T* part, std::int64_t n) {
  std::int32_t ones = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    ones += part[i] == 1;
    part[i] = part[i] == 1 ? T(0) : part[i];
  }
  return ones;
}

}  // namespace ebb::cpu

template <class T>
struct Eigen::internal::functor_traits<ebb::cpu::Exp<T>>
    : Eigen::internal::functor_traits<Eigen::internal::scalar_exp_op<T>> {};
