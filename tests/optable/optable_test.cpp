// Test cases for every row of the table, and for the elements of pointwise rows beside rare values.
#include <ebb/ebb.h>

#include "optable/checks.h"
#include "optable/table.h"
#include "support/catch.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <set>

// Registers a test case for every row.

namespace {

void check(const optable::Row& row) {
  // check_forward() runs first, because the other checks make sense only if it passes.
  optable::check_forward(row);
  optable::check_derivatives(row);
  optable::check_adjoint(row);
  optable::check_halves(row);
  optable::check_layouts(row);
  optable::check_subsets(row);
  optable::check_in_place(row);
  optable::check_repeatable(row);
  optable::check_errors(row);
  optable::check_misuse(row);
  optable::check_points(row);
  optable::check_dtypes(row);
  optable::check_pointwise(row);
  optable::check_large(row);
  optable::check_compiled(row);
  optable::check_upstream(row);
  optable::check_threads(row);
  optable::check_lengths(row);
  optable::check_shrunk(row);
  optable::check_channels_last(row);
  optable::check_far_out(row);
}

const bool registered = [] {
  for (const optable::Row* row : optable::rows())
    support::add_case("op " + row->name, "[optable]", [row] { check(*row); });
  return true;
}();

}  // namespace

TEST_CASE("every row of the table has samples and a unique name") {
  REQUIRE(registered);
  std::set<std::string> names;
  for (const optable::Row* row : optable::rows()) {
    INFO(row->name);
    CHECK_FALSE(row->shape_sets.empty());
    CHECK(names.insert(row->name).second);
  }
  REQUIRE(names.size() > 400);
}

// An element of a pointwise op does not depend on adjacent elements: a rare number in a SIMD register must
// not send other elements through a path with other last bits, because results would then depend on how work
// is split.

namespace {

using ebb::Variable;
using optable::variable_list;

constexpr std::int64_t kCount = 61;

/// Returns the values and gradients of a row, and the gradients of its gradients.
variable_list derivatives(const optable::Row& row, const variable_list& values) {
  variable_list inputs, leaves, out;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool constant = std::count(row.constants.begin(), row.constants.end(), i) > 0;
    inputs.push_back(values[i].clone().requires_grad_(!constant));
    if (!constant) leaves.push_back(inputs.back());
  }
  const Variable y = row.function(inputs)[0];
  out.push_back(y);
  if (row.derivative_order < 1 || leaves.empty() || !y.requires_grad()) return out;
  const auto slopes = [&](const Variable& f, bool again) {
    return ebb::autograd::grad({f}, leaves, {ebb::ones_like(f)}, true, again, true);
  };
  for (const bool recorded : {false, true})
    for (const Variable& slope : slopes(y, recorded && row.derivative_order > 1)) {
      out.push_back(slope);
      if (!slope.defined() || !recorded || row.derivative_order < 2 || !slope.requires_grad()) continue;
      for (const Variable& bend : slopes(slope, false)) out.push_back(bend);
    }
  return out;
}

bool same_bits(const Variable& a, const Variable& b) {
  const Variable x = a.detach().contiguous(), y = b.detach().contiguous();
  const auto nan = x.isnan().logical_and(y.isnan());
  return ebb::all(ebb::logical_or(nan, x == y)).item<bool>();
}

}  // namespace

TEST_CASE("results of pointwise ops do not depend on special values in neighbouring elements") {
  constexpr double inf = std::numeric_limits<double>::infinity();
  const std::vector<double> rare = {0.0, 1e-37, -1e30, inf, 1e37, NAN, -1e-40, 700.0, -0.0, -inf, 1e-30};
  int rows = 0;
  for (const optable::Row* row : optable::rows()) {
    const std::size_t operands = row->pointwise_inputs;
    if ((operands != 1 && operands != 2) || row->family != "elementwise" || !row->integer_inputs.empty() ||
        row->name.find("polynomial") != row->name.npos)  // whose degrees are integers
      continue;
    ++rows;
    for (const ebb::DType dtype : {ebb::kF64, ebb::kF32}) {
      if (dtype == ebb::kF32 && !row->dtype_reason.empty()) continue;
      variable_list alone, mixed;
      for (std::size_t i = 0; i < operands; ++i) {
        const auto [low, high] = i < row->ranges.size() ? row->ranges[i] : std::pair(-2.0, 2.0);
        std::vector<double> plain, both;
        for (std::int64_t k = 0; k < kCount; ++k) {
          const double share = static_cast<double>((k * 37 + static_cast<std::int64_t>(i) * 11) % kCount);
          plain.push_back(low + (high - low) * (share + 0.5) / kCount);
          both.push_back(plain.back());
          both.push_back(
              rare[static_cast<std::size_t>(k * 7 + static_cast<std::int64_t>(i) * 3) % rare.size()]);
        }
        alone.push_back(ebb::tensor(plain, ebb::kF64).to(dtype));
        mixed.push_back(ebb::tensor(both, ebb::kF64).to(dtype));
      }
      const variable_list expected = derivatives(*row, alone), got = derivatives(*row, mixed);
      REQUIRE(expected.size() == got.size());
      for (std::size_t part = 0; part < got.size(); ++part) {
        if (!expected[part].defined() || expected[part].numel() != kCount) continue;
        INFO(row->name << " in " << ebb::to_string(dtype) << ", part " << part);
        CHECK(same_bits(expected[part], got[part].slice(0, 0, 2 * kCount, 2)));
      }
    }
  }
  CHECK(rows > 100);
}
