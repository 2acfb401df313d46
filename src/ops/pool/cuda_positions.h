// Positions of elements in planes, as 32-bit or 64-bit integers. With 32 bits, divisions are computed as
// multiplications.
#pragma once

#include "kernel/elementwise_plan.h"
#include "ops/pool/geometry.h"

namespace ebb::cuda {

/// Computes n / by for n >= 0.
template <class I>
struct Quotient {
  I by = 1;
  Quotient() = default;
  explicit Quotient(I divisor) : by(divisor == 0 ? 1 : divisor) {}
  EBB_HD I operator()(I n) const { return n / by; }
};
template <>
struct Quotient<std::int32_t> {
  FastDivisor by;
  Quotient() = default;
  explicit Quotient(std::int32_t divisor) : by(static_cast<std::uint32_t>(divisor)) {}
  EBB_HD std::int32_t operator()(std::int32_t n) const {
    return static_cast<std::int32_t>(by.divide(static_cast<std::uint32_t>(n)));
  }
};

/// Planes of sizes (d0, d1, d2). The elements of `interleaved` neighbouring planes alternate in memory.
template <class I>
struct Planes {
  I sizes[3], volume, interleaved;
  Quotient<I> by_interleaved, by_size[3];

  Planes(std::int64_t d0, std::int64_t d1, std::int64_t d2, std::int64_t alternating)
      : sizes{static_cast<I>(d0), static_cast<I>(d1), static_cast<I>(d2)},
        volume(static_cast<I>(d0 * d1 * d2)),
        interleaved(static_cast<I>(alternating)),
        by_interleaved(interleaved),
        by_size{Quotient<I>(sizes[0]), Quotient<I>(sizes[1]), Quotient<I>(sizes[2])} {}
};

/// The plane and the coordinates of the i-th element in memory.
template <class I>
struct Place {
  I group, lane;  // `lane` is the index of the plane among those that alternate in memory
  I z, y, x;
  EBB_HD Place(I i, const Planes<I>& p) {
    I next = p.by_interleaved(i);
    lane = i - next * p.interleaved;
    i = next;
    next = p.by_size[2](i);
    x = i - next * p.sizes[2];
    i = next;
    next = p.by_size[1](i);
    y = i - next * p.sizes[1];
    group = p.by_size[0](next);
    z = next - group * p.sizes[0];
  }
};

/// One plane of an array. operator[] takes the row-major position of an element in the plane.
template <class T, class I>
struct Plane {
  T* data;
  I step;
  EBB_HD Plane(T* first, const Place<I>& at, const Planes<I>& p)
      : data(first + (at.group * p.volume * p.interleaved + at.lane)), step(p.interleaved) {}
  EBB_HD T& operator[](I at) const { return data[at * step]; }
};

/// The windows of a pooling, and the planes that it reads and writes.
template <class I>
struct Pooling : PoolWindowsOf<I> {
  Planes<I> in, out;
  Quotient<I> by_stride[3];

  explicit Pooling(const PoolGeometry& g)
      : in(g.axis[0].in, g.axis[1].in, g.axis[2].in, g.interleaved),
        out(g.axis[0].out, g.axis[1].out, g.axis[2].out, g.interleaved) {
    for (int d = 0; d < 3; ++d) {
      const PoolAxis& a = g.axis[d];
      this->axis[d] = {static_cast<I>(a.in),
                       static_cast<I>(a.out),
                       static_cast<I>(a.kernel),
                       static_cast<I>(a.stride),
                       static_cast<I>(a.padding),
                       static_cast<I>(a.dilation),
                       a.adaptive};
      by_stride[d] = Quotient<I>(this->axis[d].stride);
    }
    this->include_padding = g.include_padding;
    this->divisor = static_cast<I>(g.divisor);
  }

  /// The range [first, last) of windows of an axis that may contain an element. With dilation some of these
  /// windows may skip the element.
  struct Range {
    I first, last;
  };
  EBB_HD Range windows(int d, I i) const {
    const PoolAxisOf<I>& a = this->axis[d];
    Range r;
    if (a.adaptive) {
      r = {i * a.out / a.in, ((i + 1) * a.out + a.in - 1) / a.in};
    } else {
      const I at = i + a.padding, reach = (a.kernel - 1) * a.dilation + 1;
      r = {at < reach ? I(0) : by_stride[d](at - reach) + 1, by_stride[d](at) + 1};
    }
    if (r.last > a.out) r.last = a.out;
    return r;
  }
};

/// Calls body.template operator()<I>() with I = std::int32_t if fit_32_bits, otherwise with std::int64_t.
template <class Body>
void visit_index_type(bool fit_32_bits, const Body& body) {
  if (fit_32_bits)
    body.template operator()<std::int32_t>();
  else
    body.template operator()<std::int64_t>();
}

}  // namespace ebb::cuda
