// The exact functions of the pointwise rows of the op table, the errors of rows against them in ulp, and the
// rows that exceed the bounds.
#pragma once

#include "accuracy/jet.h"
#include "optable/table.h"

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace accuracy {

/// A function of one or two numbers; a function of one ignores the second argument.
using Exact = std::function<Jet(const Jet& a, const Jet& b)>;

/// Returns the functions by the names of the rows of the op table.
const std::map<std::string, Exact>& functions();

/// Returns the pointwise rows that do not round, or that are other rows with an option: the op table compares
/// them exactly.
const std::set<std::string>& unrounded();

/// The largest error of a part of a function, and its argument.
struct Worst {
  double ulps = 0;
  double conditioned = 0;  // ulps divided by the condition number, if that exceeds 1
  double a = 0, b = 0, got = 0, expected = 0;
  std::int64_t points = 0;
};
using Errors = std::array<Worst, kParts>;

/// The number of arguments: those of the ordinary tests, or all.
enum class Extent { reduced, whole };

/// Returns the arguments, with one column per operand.
std::vector<std::vector<double>> points_of(const optable::Row& row, ebb::DType dtype, Extent extent);

/// Returns the errors of a row in a dtype on a device, or none if the row cannot run there.
Errors measure(const optable::Row& row, const Exact& exact, ebb::DType dtype,
               const std::vector<std::vector<double>>& points, ebb::Device device = ebb::Device::CPU);

/// Returns whether the row is a function of one or two floating numbers.
bool is_measured(const optable::Row& row);
/// Returns whether the row is measured in that dtype.
bool is_measured(const optable::Row& row, ebb::DType dtype);

/// Returns the allowed error in ulp: 4 in f64 and f32, 1 in 16-bit dtypes.
double allowed(ebb::DType dtype);
/// Returns whether an error is allowed, also if it is within that many ulp after division by the condition
/// number. `slack` is added for a library whose own functions are less exact.
bool holds(const Worst& worst, ebb::DType dtype, double slack = 0);

constexpr ebb::DType kDtypes[] = {ebb::kF64, ebb::kF32, ebb::kHalf, ebb::kBFloat16};

/// Returns the name: f, f', f'' or their parts by operands.
const char* name_of(Part part);

/// Returns why a part of a row may exceed the bound; empty if it may not.
std::string exception_of(const std::string& row, Part part, ebb::DType dtype);

}  // namespace accuracy
