// How far the rows of the op table are from the exact functions, in units in the last place.
#pragma once

#include "accuracy/functions.h"
#include "optable/table.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace accuracy {

/// The largest error of a part of a function, and where it is.
struct Worst {
  double ulps = 0;
  double conditioned = 0;  // ulps over the condition number, where that exceeds 1
  double a = 0, b = 0, got = 0, expected = 0;
  std::int64_t points = 0;
};
using Errors = std::array<Worst, kParts>;

/// How many arguments: those of the ordinary tests, or all.
enum class Extent { reduced, whole };

/// The arguments, a column an operand.
std::vector<std::vector<double>> points_of(const optable::Row& row, ebb::DType dtype, Extent extent);

/// The errors of a row in a dtype on a device; empty when the row cannot be asked there.
Errors measure(const optable::Row& row, const Exact& exact, ebb::DType dtype,
               const std::vector<std::vector<double>>& points, ebb::Device device = ebb::Device::CPU);

/// Whether the row stands for a function of one or two floating numbers.
bool asked(const optable::Row& row);
/// Whether the row is measured in that dtype.
bool asked(const optable::Row& row, ebb::DType dtype);

/// The units in the last place that a function may be off: 4 in f64 and f32, 1 in 16 bits.
double allowed(ebb::DType dtype);
/// Whether an error is allowed: also where it is within that many units of the condition number's growth.
/// `slack` is allowed beside it, for a library whose own functions are less exact.
bool holds(const Worst& worst, ebb::DType dtype, double slack = 0);

constexpr ebb::DType kDtypes[] = {ebb::kF64, ebb::kF32, ebb::kHalf, ebb::kBFloat16};

/// f, f', f'' or their parts by operands.
const char* name_of(Part part);

}  // namespace accuracy
