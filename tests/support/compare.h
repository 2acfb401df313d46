// Comparisons of tensors with numbers and with each other, for any dtype and device.
#pragma once

#include <ebb/autograd/variable.h>

#include <string>
#include <vector>

namespace support {

/// Returns the elements as doubles in row-major order.
std::vector<double> numbers(const ebb::Variable& x);

/// Returns the bytes of the elements in row-major order.
std::string bytes_of(const ebb::Variable& x);

/// Requires equal numbers of elements and |x - expected| <= relative * |expected| + absolute for each. NaN
/// equals NaN. The shape is not compared.
void require_close(const ebb::Variable& x, const std::vector<double>& expected, double relative = 1e-9,
                   double absolute = 1e-10);
void require_close(const std::vector<double>& x, const std::vector<double>& expected, double relative = 1e-9,
                   double absolute = 1e-10);

/// Compares with another tensor, whose shape must be equal; dtype and device may differ.
void require_close(const ebb::Variable& x, const ebb::Variable& expected, double relative = 1e-9,
                   double absolute = 1e-10);

/// Returns whether shape, dtype and all elements are equal, where NaN equals NaN and signed zeros differ. Two
/// undefined tensors are equal.
bool same(const ebb::Variable& a, const ebb::Variable& b);

/// Requires same() for each pair, and lists of equal length.
void require_same(const std::vector<ebb::Variable>& got, const std::vector<ebb::Variable>& expected);

}  // namespace support
