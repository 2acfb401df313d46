// Checks of values in every floating dtype and layout, and of the points, dtypes and names that rows give.
#include "optable/checks.h"
#include "optable/samples.h"
#include "support/catch.h"

#include <algorithm>
#include <cmath>

// Values in every floating dtype and layout.

namespace optable {
namespace {

bool any_floating(const variable_list& inputs) {
  for (const Variable& x : inputs)
    if (x.is_floating_point()) return true;
  return false;
}

}  // namespace

void check_forward(const Row& row) {
  for (std::size_t s = 0; s < row.shape_sets.size(); ++s) {
    INFO(row.name << ", sample " << s);
    const variable_list inputs = make_inputs(row, s);
    const variable_list out = row.function(inputs);
    REQUIRE_FALSE(out.empty());
    if (row.reference_function) {
      Arrays arrays;
      for (const Variable& x : inputs) arrays.push_back(to_array(x));
      const Arrays expected = row.reference_function(arrays);
      REQUIRE_FALSE(expected.empty());
      REQUIRE(expected.size() + row.unreferenced_outputs == out.size());
      for (std::size_t o = 0; o < expected.size(); ++o) require_close(out[o], expected[o], 1e-11);
    }
    if (!row.dtype_reason.empty() || !any_floating(inputs)) continue;
    // f32 gets rounded inputs, and so does the reference.
    const variable_list rounded = to(inputs, ebb::kF32);
    const variable_list single = row.function(rounded);
    require_same(single, row.function(to(rounded, ebb::kF64)), row.float_tolerance);
    for (std::size_t o = 0; o < single.size(); ++o)
      CHECK(single[o].dtype() == (out[o].is_floating_point() ? ebb::kF32 : out[o].dtype()));
  }
}

void check_halves(const Row& row) {
  if (!row.dtype_reason.empty() || !row.half_reason.empty()) return;
  for (std::size_t s = 0; s < row.shape_sets.size(); ++s) {
    const variable_list inputs = make_inputs(row, s);
    if (!any_floating(inputs)) continue;
    for (const auto& [dtype, epsilon] : {std::pair(ebb::kHalf, 0x1p-10), std::pair(ebb::kBFloat16, 0x1p-7)}) {
      INFO(row.name << " in " << ebb::to_string(dtype) << ", sample " << s);
      const variable_list rounded = to(inputs, dtype);
      const variable_list got = row.function(rounded);
      const variable_list exact = row.function(to(rounded, ebb::kF64));
      require_same(got, exact, row.half_roundings * epsilon);
      for (std::size_t o = 0; o < got.size(); ++o)
        CHECK(got[o].dtype() == (exact[o].is_floating_point() ? dtype : exact[o].dtype()));
      if (row.derivative_order == 0) continue;
      const variable_list leaves = with_grad(row, rounded), wide = with_grad(row, to(rounded, ebb::kF64));
      const variable_list expected = gradients(row, wide, leaves_of(wide));
      const variable_list half_gradients = gradients(row, leaves, leaves_of(leaves));
      // Backward starts from rounded results and rounds once more.
      require_same(half_gradients, expected, 2 * row.half_roundings * epsilon);
    }
  }
}

void check_layouts(const Row& row) {
  if (!row.layout_reason.empty()) return;
  for (std::size_t s = 0; s < row.shape_sets.size(); ++s) {
    const variable_list inputs = make_inputs(row, s);
    const variable_list expected = laid_out_results(row, inputs);
    for (const Layout& layout : layouts()) {
      INFO(row.name << ", sample " << s << ", " << layout.name);
      variable_list other, plain;
      for (const Variable& x : inputs) {
        other.push_back(layout.apply(x));
        plain.push_back(other.back().contiguous().clone());
      }
      if (layout.repeats) {
        // The op may reject repeated values, such as an index that occurs twice. Then there is nothing to
        // compare.
        variable_list repeated;
        try {
          repeated = laid_out_results(row, plain);
        } catch (const ebb::Error&) {
          continue;
        }
        require_same(laid_out_results(row, other), repeated, 1e-11);
        continue;
      }
      for (std::size_t i = 0; i < inputs.size(); ++i) REQUIRE(ebb::equal(other[i], inputs[i]));
      require_same(laid_out_results(row, other), expected, 1e-11);
    }
  }
}

// Checks of the points of a row: values and derivatives, dtypes, the name of the node.

namespace {

// More than a SIMD vector, so that lanes and remainder are both tested.
constexpr std::int64_t kCopies = 9;

double rounded(double x, ebb::DType dtype) { return ebb::full({}, x, ebb::kF64).to(dtype).item<double>(); }

bool holds(double got, double expected, double tolerance) {
  if (std::isnan(expected)) return std::isnan(got);
  return got == expected || std::abs(got - expected) <= tolerance * (1 + std::abs(expected));
}

// Returns the inputs of the point in that dtype, or none if it cannot represent their values.
variable_list inputs_at(const Row& row, const Point& point, ebb::DType dtype) {
  variable_list inputs;
  for (std::size_t i = 0; i < point.at.size(); ++i) {
    const double x = point.at[i];
    const auto integer = std::find_if(row.integer_inputs.begin(), row.integer_inputs.end(),
                                      [i](const IntegerInput& in) { return in.input == i; });
    ebb::DType own = dtype;
    if (integer != row.integer_inputs.end()) own = integer->boolean ? ebb::kBool : ebb::kLong;
    if (own == dtype && !std::isnan(x) && rounded(x, dtype) != x) return {};
    inputs.push_back(ebb::full({kCopies}, x, ebb::kF64).to(own));
  }
  return inputs;
}

void check_value(const Row& row, const Point& point, ebb::DType dtype, double tolerance) {
  INFO(ebb::to_string(dtype));
  variable_list inputs = inputs_at(row, point, dtype);
  if (inputs.empty()) return;
  const Variable result = row.function(inputs)[0];
  const double expected = result.is_floating_point() ? rounded(point.value, result.dtype()) : point.value;
  for (const double got : to_array(result).values) {
    INFO("got " << got << ", expected " << expected);
    REQUIRE(holds(got, expected, tolerance));
  }
  if (!row.in_place_function) return;
  inputs[0] = inputs[0].clone();
  require_close(row.in_place_function(inputs), to_array(result), 0);
}

// Compares the derivatives of kernels and of recorded ops.
void check_gradients(const Row& row, const Point& point) {
  for (const bool recorded : {false, true}) {
    const variable_list inputs = with_grad(row, inputs_at(row, point, ebb::kF64)), leaves = leaves_of(inputs);
    const Variable y = row.function(inputs)[0];
    const Variable seed = ebb::ones_like(y).requires_grad_(recorded);
    const variable_list got_gradients = ebb::autograd::grad({y}, leaves, {seed}, recorded, recorded, true);
    REQUIRE(got_gradients.size() == point.gradients.size());
    for (std::size_t i = 0; i < got_gradients.size(); ++i)
      for (const double got : to_array(got_gradients[i]).values) {
        INFO("gradient for input " << i << ", recorded " << recorded << ": got " << got << ", expected "
                                   << point.gradients[i]);
        REQUIRE(holds(got, point.gradients[i], point.tolerance));
      }
  }
}

struct DefaultDType {
  explicit DefaultDType(ebb::DType dtype) { ebb::set_default_dtype(dtype); }
  ~DefaultDType() { ebb::set_default_dtype(ebb::kF32); }
};

void check_other_numbers(const Row& row, ebb::DType dtype, Gives gives) {
  if (gives == Gives::unsaid) return;
  INFO(row.name << " of " << ebb::to_string(dtype));
  variable_list inputs;
  for (const Variable& x : make_inputs(row, 0))
    inputs.push_back(x.is_floating_point() ? x.clamp_min(1).to(dtype) : x);
  if (gives == Gives::error) {
    REQUIRE_THROWS_AS(row.function(inputs), ebb::Error);
    return;
  }
  for (const ebb::DType floating : {ebb::kF32, ebb::kF64}) {
    const DefaultDType guard(floating);
    const Variable result = row.function(inputs)[0];
    REQUIRE(result.dtype() == (gives == Gives::same ? dtype : floating));
    if (!row.reference_function || !row.half_reason.empty()) continue;
    Arrays arrays;
    for (const Variable& x : inputs) arrays.push_back(to_array(x));
    require_close(result, row.reference_function(arrays)[0], row.float_tolerance);
  }
  if (gives == Gives::floating && row.in_place_function)
    REQUIRE_THROWS_WITH(row.in_place_function(inputs), support::Contains("can't be cast"));
}

}  // namespace

void check_points(const Row& row) {
  for (const Point& point : row.points) {
    std::string place;
    for (const double x : point.at) place += (place.empty() ? "" : ", ") + std::to_string(x);
    INFO(row.name << " at " << place);
    check_value(row, point, ebb::kF64, point.tolerance);
    if (!point.gradients.empty()) check_gradients(row, point);
    if (!row.dtype_reason.empty()) continue;
    check_value(row, point, ebb::kF32, std::max(point.tolerance, row.float_tolerance));
    if (!row.half_reason.empty()) continue;
    check_value(row, point, ebb::kHalf, std::max(point.tolerance, row.half_roundings * 0x1p-10));
    check_value(row, point, ebb::kBFloat16, std::max(point.tolerance, row.half_roundings * 0x1p-7));
  }
}

void check_dtypes(const Row& row) {
  INFO(row.name);
  check_other_numbers(row, ebb::kLong, row.of_integers);
  check_other_numbers(row, ebb::kBool, row.of_booleans);
  if (row.result_dtype) {
    const Variable result = row.function(with_grad(row, make_inputs(row, 0)))[0];
    REQUIRE(result.dtype() == *row.result_dtype);
    REQUIRE(result.requires_grad() == (row.derivative_order > 0));
  }
  if (!row.node_name.empty()) {
    const Variable result = row.function(with_grad(row, make_inputs(row, 0)))[0];
    REQUIRE(result.grad_fn());
    REQUIRE(result.grad_fn()->name() == row.node_name);
  }
}

}  // namespace optable
