// Pointwise ops for tiny and huge numbers: floats against the row in double, doubles against the reference.
#include "optable/checks.h"
#include "optable/samples.h"
#include "optable/table.h"
#include "support/catch.h"

#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <sstream>

namespace optable {
namespace {

// The rows that are not accurate for tiny or huge numbers.

// The float result differs from the row in double by more than the accuracy of the row.
const std::set<std::string> kFloats = {"addcdiv", "addcmul", "div.trunc"};

// The double result differs from the reference, which may itself be wrong.
const std::set<std::string> kDoubles = {"clamp.tensors",
                                        "div.floor",
                                        "erfinv",
                                        "floor_divide",
                                        "hypot",
                                        "igamma",
                                        "igamma.in_place",
                                        "igammac",
                                        "igammac.in_place",
                                        "logaddexp",
                                        "logaddexp2",
                                        "mvlgamma",
                                        "nan_to_num.values",
                                        "pow.exponent_-0.50",
                                        "pow.zero_base",
                                        "remainder",
                                        "remainder.number",
                                        "remainder.number_first",
                                        "sinc",
                                        "special_entr",
                                        "special_erfcx",
                                        "special_i1",
                                        "special_log_ndtr",
                                        "special_ndtri",
                                        "special_xlog1py",
                                        "special_zeta",
                                        "special_zeta.number",
                                        "special_zeta.number_first",
                                        "to.long",
                                        "xlogy",
                                        "xlogy.zero"};

// Returns whether the row is on the list for that dtype. A row that has become accurate must be removed from
// it.
bool inexact_far_out(const std::string& row, ebb::DType dtype) {
  return (dtype == ebb::kF32 ? kFloats : kDoubles).contains(row);
}

// Returns whether the row ends for such inputs: polynomials need as many steps as their degree, which is one
// of the inputs.
bool ends_far_out(const std::string& row) {
  for (const char* steps : {"polynomial", "digamma", "polygamma"})
    if (row.find(steps) != row.npos) return false;
  return true;
}

std::vector<double> places_of(ebb::DType dtype, std::size_t inputs) {
  const bool single = dtype == ebb::kF32;
  const double least = single ? 0x1p-149 : 0x1p-1074, normal = single ? 0x1p-126 : 0x1p-1022;
  std::vector<double> all = {least, 1000 * least, normal / 2, normal, 1e-30, 1e-10, 1e10, 1e30};
  if (inputs < 3) all.insert(all.end(), {3 * least, 1e-20, 1e-5, 1e5, 1e15, 1e20, 3e30, 0.0});
  for (std::size_t i = all.size(); i-- > 0;) all.push_back(-all[i]);
  if (single)
    for (double& x : all) x = static_cast<float>(x);
  return all;
}

// Returns every combination of test values for the operands.
variable_list inputs_at(const Row& row, ebb::DType dtype) {
  const std::vector<double> places = places_of(dtype, row.pointwise_inputs);
  std::size_t count = 1;
  for (std::size_t i = 0; i < row.pointwise_inputs; ++i) count *= places.size();
  std::vector<std::vector<double>> values(row.pointwise_inputs);
  for (std::size_t k = 0; k < count; ++k)
    for (std::size_t i = 0, rest = k; i < values.size(); ++i, rest /= places.size())
      values[i].push_back(places[rest % places.size()]);
  variable_list inputs;
  for (const std::vector<double>& column : values) inputs.push_back(ebb::tensor(column, ebb::kF64));
  return inputs;
}

// Returns whether `got` is within `relative` of the expected value, or within two of the smallest numbers; it
// must be infinite if the value is too large.
bool holds(double got, double expected, double relative, bool single) {
  const double most = single ? std::numeric_limits<float>::max() : std::numeric_limits<double>::max();
  const double least = single ? 0x1p-149 : 0x1p-1074;
  if (std::isnan(expected)) return std::isnan(got);
  if (std::fabs(expected) > most)
    return got == std::copysign(INFINITY, expected) ||
           (std::isfinite(expected) && std::fabs(got - expected) <= relative * std::fabs(expected));
  if (std::isinf(got))  // as far as the bound allows
    return std::signbit(got) == std::signbit(expected) && std::fabs(expected) * (1 + relative) >= most;
  return std::fabs(got - expected) <= relative * std::fabs(expected) + 2 * least;
}

// Returns the first wrong value as text, or an empty string.
std::string first_wrong(const Row& row, ebb::DType dtype) {
  const bool single = dtype == ebb::kF32;
  const variable_list inputs = inputs_at(row, dtype);
  Array expected, got;
  try {
    got = to_array(row.function(to(inputs, dtype))[0]);
    if (single) {
      expected = to_array(row.function(inputs)[0]);
    } else {
      Arrays arrays;
      for (const Variable& x : inputs) arrays.push_back(to_array(x));
      expected = row.reference_function(arrays)[0];
    }
  } catch (const std::exception&) {
    return "";  // values for which the op or the standard function of the reference throws
  }
  const double relative = single ? std::max(row.float_accuracy, 1e-6) : std::max(row.accuracy, 1e-12);
  for (std::size_t k = 0; k < got.values.size(); ++k) {
    if (holds(got[k], expected[k], relative, single)) continue;
    std::ostringstream said;
    said.precision(17);
    for (const Variable& x : inputs) said << x.data_ptr<double>()[k] << ", ";
    said << "in " << ebb::to_string(dtype) << ": got " << got[k] << ", expected " << expected[k];
    return said.str();
  }
  return "";
}

}  // namespace

void check_far_out(const Row& row) {
  const bool asked =
      row.pointwise_inputs > 0 && row.integer_inputs.empty() && !row.special_input && ends_far_out(row.name);
  for (const ebb::DType dtype : {ebb::kF32, ebb::kF64}) {
    const bool single = dtype == ebb::kF32, listed = inexact_far_out(row.name, dtype);
    const bool can = asked && (single ? row.dtype_reason.empty() : bool(row.reference_function));
    const std::string wrong = can ? first_wrong(row, dtype) : "";
    INFO(row.name << " at " << wrong);
    if (listed)
      CHECK_FALSE(wrong.empty());  // otherwise the row must be removed from the list above
    else
      CHECK(wrong.empty());
  }
}

}  // namespace optable
