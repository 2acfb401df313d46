// Comparisons of tensors with numbers and with each other. All of them take tensors of any dtype and device.
#pragma once

#include <ebb/autograd/variable.h>

#include <string>
#include <vector>

namespace support {

/// The elements as doubles, in row-major order.
std::vector<double> numbers(const ebb::Variable& x);

/// The bytes of the elements, in row-major order.
std::string bytes_of(const ebb::Variable& x);

/// Requires as many elements as are expected, each with |x - expected| <= relative * |expected| + absolute.
/// NaN equals NaN. The shape is not compared.
void require_close(const ebb::Variable& x, const std::vector<double>& expected, double relative = 1e-9,
                   double absolute = 1e-10);
void require_close(const std::vector<double>& x, const std::vector<double>& expected, double relative = 1e-9,
                   double absolute = 1e-10);

/// The same of another tensor, whose shape must be equal; dtype and device need not.
void require_close(const ebb::Variable& x, const ebb::Variable& expected, double relative = 1e-9,
                   double absolute = 1e-10);

/// Whether shape, dtype and all elements are equal, NaN to NaN and the sign of zeros included. Two undefined
/// tensors are the same.
bool same(const ebb::Variable& a, const ebb::Variable& b);

/// Requires the same() of each pair, and as many tensors in one list as in the other.
void require_same(const std::vector<ebb::Variable>& got, const std::vector<ebb::Variable>& expected);

}  // namespace support
