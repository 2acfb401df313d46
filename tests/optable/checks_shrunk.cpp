// Sizes of 1 and 0 wherever a sample has another: an error, or results that hold together.
#include "optable/checks.h"
#include "optable/layouts.h"
#include "optable/samples.h"
#include "support/catch.h"

#include <algorithm>
#include <set>

namespace optable {
namespace {

bool all_finite(const variable_list& xs) {
  for (const Variable& x : xs)
    if (x.defined() && x.is_floating_point() && !x.isfinite().all().item<bool>()) return false;
  return true;
}

void check(const Row& row) {
  variable_list inputs, got;
  try {
    inputs = make_inputs(row, 0);
    got = results(row, inputs);
  } catch (const ebb::Error&) {
    return;  // a size may mean something else too, or be refused
  }
  if (!row.layout_reason.empty() || !all_finite(got)) return;
  for (const Layout& layout : layouts()) {
    if (layout.repeats) continue;
    INFO(layout.name);
    variable_list other;
    for (const Variable& x : inputs) other.push_back(layout.apply(x));
    require_same(laid_out_results(row, other), got, 1e-11);
  }
  if (row.derivative_order == 0) return;
  ebb::GradcheckOptions options;
  options.fast_mode = true;
  const variable_list leaves = with_grad(row, inputs);
  if (!leaves_of(leaves).empty()) REQUIRE(ebb::gradcheck(differentiable_part(row), leaves, options));
}

}  // namespace

void check_shrunk(const Row& row) {
  std::set<std::vector<Sizes>> seen(row.shape_sets.begin(), row.shape_sets.end());
  for (const std::vector<Sizes>& shapes : row.shape_sets) {
    std::set<std::int64_t> values;
    for (const Sizes& sizes : shapes) values.insert(sizes.begin(), sizes.end());
    for (const std::int64_t size : values)
      for (const std::int64_t other : {1, 0}) {
        Row small = row;
        small.shape_sets = {shapes};
        for (Sizes& sizes : small.shape_sets[0]) std::replace(sizes.begin(), sizes.end(), size, other);
        if (!seen.insert(small.shape_sets[0]).second) continue;
        INFO(row.name << ", size " << size << " as " << other);
        check(small);
      }
  }
}

}  // namespace optable
