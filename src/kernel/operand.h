// An input of an elementwise kernel: an array or a number.
#pragma once

#include <ebb/core/ndarray.h>
#include <ebb/core/scalar.h>
#include <ebb/core/visit.h>

#include "kernel/convert.h"

#include <cstring>

namespace ebb {

namespace detail {

/// An array of the op's dtype that is broadcast to the output. If `array` is null, it is a number passed by
/// value.
struct Operand {
  const NdArray* array = nullptr;
  Scalar value;
  const NdArray* read_from = nullptr;  // the 0-d CPU array that contained the number
  Operand() = default;
  Operand(const NdArray& a) : array(&a) {}
  Operand(const Scalar& v) : value(v) {}
  Operand(const Scalar& v, const NdArray& from) : value(v), read_from(&from) {}
};

}  // namespace detail

/// Returns the number as an element of the dtype, in the low bytes.
inline std::uint64_t element_bits(const Scalar& value, DType dtype) {
  return visit_all(dtype, "scalar", [&]<class T> {
    const T number = element<T>(value);
    std::uint64_t bits = 0;
    std::memcpy(&bits, &number, sizeof(T));
    return bits;
  });
}

}  // namespace ebb
