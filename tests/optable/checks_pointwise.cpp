// Checks of pointwise ops, bit by bit: the result of an element depends only on its operands and not on their
// layout.
#include "optable/checks.h"
#include "optable/samples.h"
#include "support/catch.h"

#include <cmath>

namespace optable {
namespace {

// Enough elements for SIMD vectors and a remainder, in rows that are not whole vectors.
const Sizes kSizes = {6, 31};

Row with_shapes(const Row& row, std::vector<Sizes> sizes) {
  Row other = row;
  other.shape_sets = {std::move(sizes)};
  return other;
}

Row all_of(const Row& row, const Sizes& sizes) {
  return with_shapes(row, std::vector<Sizes>(row.pointwise_inputs, sizes));
}

// Returns the same values with gaps between them and an offset.
Variable gaps(const Variable& x) {
  const std::int64_t rows = x.size(0), columns = x.size(1);
  const Variable wide = ebb::zeros({rows, 2 * columns + 3}, x.options());
  return wide.as_strided({rows, columns}, {2 * columns + 3, 2}, 1).copy_(x);
}

Variable turned(const Variable& x) { return x.t().contiguous().t(); }

// Checks the in-place form against the expected result, unless shapes or dtypes do not allow it.
void require_in_place(const Row& row, variable_list inputs, const Variable& expected) {
  if (!row.in_place_function || expected.sizes() != inputs[0].sizes()) return;
  const Variable returned = row.in_place_function(inputs);
  REQUIRE(returned.is_same(inputs[0]));
  if (inputs[0].dtype() == expected.dtype())
    REQUIRE(same_bits(inputs[0], expected));
  else
    require_close(inputs[0], to_array(expected), 0);
}

void check_accuracy(const Row& row, const variable_list& inputs, ebb::DType dtype) {
  if (!row.reference_function) return;
  INFO("accuracy in " << ebb::to_string(dtype));
  Arrays arrays;
  for (const Variable& x : inputs) arrays.push_back(to_array(x));
  require_close(row.function(inputs)[0], row.reference_function(arrays)[0],
                dtype == ebb::kF64 ? row.accuracy : row.float_accuracy);
}

// Checks every combination of layouts of the operands.
void check_all_layouts(const Row& row, const variable_list& inputs) {
  Variable (*const layouts[])(const Variable&) = {[](const Variable& x) { return x.clone(); }, turned, gaps};
  const Variable expected = row.function(inputs)[0];
  std::size_t choices = 1;
  for (std::size_t i = 0; i < inputs.size(); ++i) choices *= 3;
  for (std::size_t choice = 0; choice < choices; ++choice) {
    INFO("layouts " << choice);
    variable_list other;
    for (std::size_t i = 0, rest = choice; i < inputs.size(); ++i, rest /= 3)
      other.push_back(layouts[rest % 3](inputs[i]));
    REQUIRE(same_bits(row.function(other)[0], expected));
    require_in_place(row, other, expected);
  }
  variable_list columns, single;
  for (const Variable& x : inputs) {
    columns.push_back(turned(x));
    single.push_back(x.as_strided({}, {}, 5));
  }
  // A copy may have other strides.
  if (row.family == "elementwise") REQUIRE(row.function(columns)[0].strides() == columns[0].strides());
  REQUIRE(same_bits(row.function(single)[0], expected.as_strided({}, {}, 5)));
}

void check_broadcasts(const Row& row) {
  if (row.pointwise_inputs < 2) return;
  const std::vector<Sizes> shapes = {{4, 1, 30}, {5, 1}, {30}, {1}, {}, {4, 5, 30}};
  for (const Sizes& a : shapes)
    for (const Sizes& b : shapes) {
      std::vector<Sizes> sizes(row.pointwise_inputs, a);
      sizes[1] = b;
      const variable_list inputs = make_inputs(with_shapes(row, sizes), 0);
      const Variable out = row.function(inputs)[0];
      variable_list wide;
      for (const Variable& x : inputs) wide.push_back(x.expand(out.sizes()).contiguous());
      INFO("shapes " << ebb::IntArrayRef(a) << " and " << ebb::IntArrayRef(b));
      REQUIRE(same_bits(row.function(wide)[0], out));
      require_in_place(row, inputs, out);
    }
  std::vector<Sizes> unfit(row.pointwise_inputs, Sizes{2, 3});
  unfit[1] = {4};
  const variable_list inputs = make_inputs(with_shapes(row, unfit), 0);
  REQUIRE_THROWS_WITH(row.function(inputs), support::Contains("[2, 3]") && support::Contains("[4]"));
  std::vector<Sizes> none(row.pointwise_inputs, Sizes{4, 0});
  none[1] = {4, 1};
  REQUIRE(row.function(make_inputs(with_shapes(row, none), 0))[0].sizes() == ebb::IntArrayRef({4, 0}));
}

// The second operand is the first one, or a transposed view of it: the op must read its old values.
void check_aliases(const Row& row) {
  if (!row.in_place_function || row.pointwise_inputs < 2) return;
  variable_list inputs = make_inputs(all_of(row, {12}), 0);
  if (inputs[0].dtype() != inputs[1].dtype()) return;
  const Variable line = inputs[0];
  variable_list apart = inputs, across = inputs;
  across[0] = line.slice(0, 1), across[1] = line.slice(0, 0, 11);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    apart[i] = i < 2 ? across[i].clone() : inputs[i].slice(0, 1);
  for (std::size_t i = 2; i < inputs.size(); ++i) across[i] = apart[i];
  const Variable expected = row.in_place_function(apart);
  REQUIRE(same_bits(row.in_place_function(across), expected));
  if (row.derivative_order == 0 || row.rounds_between || !line.is_floating_point()) return;
  const auto slope = [&](const Row::Function& f) {
    const Variable x = make_inputs(all_of(row, {12}), 0)[0].requires_grad_();
    variable_list same = inputs;
    same[0] = x * 1;
    same[1] = same[0];
    return ebb::autograd::grad({f(same)[0].sum()}, {x})[0];
  };
  REQUIRE(
      same_bits(slope([&](In x) { return variable_list{row.in_place_function(x)}; }), slope(row.function)));
}

// Checks that the gradient is equal with and without recording, even if a composed formula could overflow or
// select another branch.
void check_recorded(const Row& row) {
  if (row.pointwise_inputs != 1 || row.derivative_order < 2 || !row.integer_inputs.empty()) return;
  std::vector<double> places = {-1000, -30, -3, -1, -0.7, -0.5, 0, 0.4, 0.5, 0.7, 1, 1.5, 2, 3, 6, 30, 1000};
  places.insert(places.end(), row.kink_values.begin(), row.kink_values.end());
  const Variable x = ebb::tensor(places, ebb::kF64).requires_grad_(), seed = ebb::full_like(x, 1.5);
  const auto slopes = [&](bool recorded) {
    const Variable y = row.function({x})[0];
    return to_array(
        ebb::autograd::grad({y}, {x}, {seed.clone().requires_grad_(recorded)}, recorded, recorded)[0]);
  };
  const Array plain = slopes(false), recorded = slopes(true);
  for (std::size_t i = 0; i < places.size(); ++i) {
    INFO("gradient at " << places[i] << ": " << plain[i] << ", recorded " << recorded[i]);
    if (row.finite_everywhere) REQUIRE(std::isfinite(plain[i]));
    if (std::isfinite(plain[i]))
      REQUIRE(std::abs(plain[i] - recorded[i]) <= 1e-12 * (1 + std::abs(plain[i])));
    else
      REQUIRE((plain[i] == recorded[i] || (std::isnan(plain[i]) && std::isnan(recorded[i]))));
  }
}

// Checks that 16-bit ops compute in f32 and round once.
void check_one_rounding(const Row& row, const variable_list& inputs) {
  if (!row.dtype_reason.empty() || !row.half_reason.empty() || row.rounds_between) return;
  for (const ebb::DType dtype : {ebb::kHalf, ebb::kBFloat16}) {
    const variable_list half = to(inputs, dtype);
    const Variable got = row.function(half)[0], wide = row.function(to(half, ebb::kF32))[0];
    INFO("rounding to " << ebb::to_string(dtype));
    REQUIRE(same_bits(got, wide.is_floating_point() ? wide.to(dtype) : wide));
  }
}

}  // namespace

void check_pointwise(const Row& row) {
  if (row.pointwise_inputs == 0 || !row.layout_reason.empty()) return;
  INFO(row.name << ", bit by bit");
  const variable_list exact = make_inputs(all_of(row, kSizes), 0);
  for (const ebb::DType dtype : {ebb::kF64, ebb::kF32}) {
    if (dtype == ebb::kF32 && !row.dtype_reason.empty()) continue;
    INFO(ebb::to_string(dtype));
    const variable_list inputs = to(exact, dtype);
    check_accuracy(row, inputs, dtype);
    check_all_layouts(row, inputs);
  }
  check_one_rounding(row, exact);
  check_broadcasts(row);
  check_aliases(row);
  check_recorded(row);
}

}  // namespace optable
