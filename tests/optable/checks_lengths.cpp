// Rows of many lengths: about those that vectors end at, and beyond what a block holds.
#include "optable/checks.h"
#include "optable/samples.h"
#include "support/catch.h"

#include <algorithm>

namespace optable {
namespace {

Row with_shapes(const Row& row, std::vector<Sizes> shapes) {
  Row other = row;
  other.shape_sets = {std::move(shapes)};
  return other;
}

void compare(const Row& row) {
  const variable_list inputs = make_inputs(row, 0);
  const auto expected_of = [&](const variable_list& of) {
    Arrays arrays;
    for (const Variable& x : of) arrays.push_back(to_array(x));
    return row.reference_function(arrays);
  };
  const auto require = [&](const variable_list& got, const Arrays& expected, double tolerance) {
    REQUIRE(expected.size() <= got.size());
    for (std::size_t o = 0; o < expected.size(); ++o) require_close(got[o], expected[o], tolerance);
  };
  const Arrays expected = expected_of(inputs);
  require(row.function(inputs), expected, 1e-11);
  variable_list turned;
  for (const Variable& x : inputs)
    turned.push_back(x.dim() < 2 ? x : x.transpose(0, -1).contiguous().transpose(0, -1));
  require(row.function(turned), expected, 1e-11);
  if (row.dtype_reason.empty()) {
    const variable_list rounded = to(inputs, ebb::kF32);
    require(row.function(rounded), expected_of(rounded), row.float_tolerance);
  }
}

// The result of a row does not depend on the rows beside it.
void compare_rows_apart(const Row& row) {
  const variable_list inputs = to(make_inputs(row, 0), row.dtype_reason.empty() ? ebb::kF32 : ebb::kF64);
  const std::int64_t count = inputs[0].size(0);
  const variable_list all = row.function(inputs);
  for (std::int64_t i = 0; i < count; ++i) {
    variable_list alone;
    for (const Variable& x : inputs)
      alone.push_back(x.dim() > 0 && x.size(0) == count ? x.narrow(0, i, 1) : x);
    const variable_list one = row.function(alone);
    for (std::size_t o = 0; o < all.size(); ++o) {
      if (all[o].dim() == 0 || all[o].size(0) != count) continue;
      INFO("row " << i << ", output " << o);
      REQUIRE(same_bits(all[o].narrow(0, i, 1).contiguous(), one[o]));
    }
  }
}

}  // namespace

void check_lengths(const Row& row) {
  for (const std::vector<Sizes>& shapes : row.large_shapes) {
    INFO(row.name << ", large; the first input is " << ebb::IntArrayRef(shapes[0]));
    const Row large = with_shapes(row, shapes);
    compare(large);
    if (shapes[0].size() == 2) compare_rows_apart(large);
    if (row.derivative_order == 0) continue;
    ebb::GradcheckOptions options;
    options.fast_mode = true;
    REQUIRE(ebb::gradcheck(differentiable_part(large), with_grad(large, make_inputs(large, 0)), options));
  }
  if (row.row_lengths.empty()) return;
  REQUIRE(row.reference_function);
  const std::vector<Sizes>& first = row.shape_sets[0];
  REQUIRE_FALSE(first[0].empty());
  const std::int64_t inner = first[0].back();
  for (const std::int64_t length : row.row_lengths) {
    INFO(row.name << ", rows of " << length);
    std::vector<Sizes> shapes = first;
    for (Sizes& sizes : shapes) std::replace(sizes.begin(), sizes.end(), inner, length);
    compare(with_shapes(row, shapes));
    if (length > 300 || first[0].size() < 2 || first[0][0] == inner) continue;
    for (Sizes& sizes : shapes)
      if (!sizes.empty()) std::replace(sizes.begin(), sizes.begin() + 1, first[0][0], std::int64_t{37});
    const Row many = with_shapes(row, shapes);
    compare(many);
    compare_rows_apart(many);
  }
}

}  // namespace optable
