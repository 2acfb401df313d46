// Checks of pointwise ops, bit by bit, and for tiny and huge numbers.
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

// Checks of pointwise ops, bit by bit: the result of an element depends only on its operands and not on their
// layout.

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

// Pointwise ops for tiny and huge numbers: floats against the row in double, doubles against the reference.

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
